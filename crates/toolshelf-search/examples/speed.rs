//! Speed.
#![allow(clippy::unwrap_used)]
use std::time::Instant;
use toolshelf_core::search::*;
use toolshelf_search::*;
fn rss() -> usize { std::fs::read_to_string("/proc/self/status").unwrap().lines().find(|l| l.starts_with("VmRSS")).unwrap().split_whitespace().nth(1).unwrap().parse().unwrap() }
fn main() {
    let c = std::env::var("TOOLSHELF_CORPUS").unwrap();
    let text = std::fs::read_to_string(format!("{c}/scale/tools.jsonl")).unwrap();
    let tools = evaluate::read_tools("t", &text).unwrap();
    let mut queries = vec![];
    for s in ["livemcpbench", "mcpproxy-golden", "metatool", "bfcl-pooled", "toollinkos"] {
        let q = std::fs::read_to_string(format!("{c}/retrieval/{s}/queries.jsonl")).unwrap();
        queries.extend(evaluate::read_queries("q", &q).unwrap().into_iter().step_by(7).map(|q| q.query));
    }
    for n in [1000usize, 10_000, 100_000] {
        let mut all = vec![];
        let mut copy = 0;
        while all.len() < n {
            for t in &tools {
                if all.len() == n { break }
                let mut t = t.clone();
                if copy > 0 {
                    t.tool.key.group = toolshelf_core::GroupId::new(format!("{}{copy}", t.tool.key.group)).unwrap_or(t.tool.key.group);
                }
                all.push(t);
            }
            copy += 1;
        }
        let before = rss();
        let index = Lexical::default();
        evaluate::load(&index, &all);
        let t = Instant::now();
        let _ = index.search(&SearchQuery { text: "file".into(), limit: 5, groups: vec![] });
        let build = t.elapsed();
        let after = rss();
        let mut times: Vec<f64> = queries.iter().map(|q| { let t = Instant::now(); let _ = index.search(&SearchQuery { text: q.clone(), limit: 5, groups: vec![] }).unwrap(); t.elapsed().as_secs_f64() * 1e6 }).collect();
        times.sort_by(f64::total_cmp);
        let one: Vec<_> = all.iter().filter(|t| t.tool.key.group == all[0].tool.key.group).map(|t| t.tool.clone()).collect();
        let t = Instant::now();
        index.replace_group(&all[0].tool.key.group, one.clone());
        let _ = index.search(&SearchQuery { text: "file".into(), limit: 5, groups: vec![] });
        println!("{n}: build {build:?} p50 {:.0} p99 {:.0} us; update of {} tools {:?}; {} bytes a tool", times[times.len() / 2], times[times.len() * 99 / 100], one.len(), t.elapsed(), (after - before) * 1024 / n);
    }
}
