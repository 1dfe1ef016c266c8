//! What others' indexes got wrong, each as one promise.

use toolshelf_core::search::{Match, SearchIndex, SearchQuery};

use crate::world::{fill, first, group, index, keys, query, search, servers, tool, tool_with};

#[test]
fn the_exact_name_ranks_above_description_matches() {
    let index = index(&servers());
    for text in ["find_symbol", "find symbol", "FindSymbol"] {
        assert_eq!(first(&index, text), "lsp/find_symbol", "{text}");
    }
}

#[test]
fn the_words_of_a_required_server_do_not_dominate() {
    let tools = [
        tool("slack", "slack_slack_status", "Slack of Slack for Slack."),
        tool("slack", "post_message", "Sends a text to a channel."),
        tool("mail", "send_message", "Sends a text to a person."),
    ];
    assert_eq!(
        first(&index(&tools), "+slack send a text"),
        "slack/post_message"
    );
}

#[test]
fn a_bare_name_finds_the_tool_whose_name_has_a_prefix() {
    assert_eq!(
        first(&index(&servers()), "ask_codex"),
        "hub/mcp__plugin_x__ask_codex"
    );
}

#[test]
fn queries_that_are_not_latin_are_understood() {
    let index = index(&servers());
    assert_eq!(first(&index, "新建日程"), "日历/创建日程");
    assert_eq!(first(&index, "请帮我把这个日程删除"), "日历/删除日程");
    assert_eq!(first(&index, "найти книгу"), "клуб/найти_книгу");
    assert_eq!(first(&index, "книгу в библиотеке"), "клуб/найти_книгу");
}

#[test]
fn other_scripts_are_words_too() {
    let tools = [
        tool("a", "kaigi", "会議を予約します。"),
        tool("a", "tenki", "天気予報を調べます。"),
        tool("b", "mail", "이메일을 보냅니다."),
        tool("b", "file", "파일을 읽습니다."),
        tool("c", "salam", "يرسل رسالة إلى قناة"),
        tool("c", "kitab", "يبحث عن كتاب"),
        tool("d", "arthos", "Διαβάζει ένα ΑΡΧΕΊΟ."),
    ];
    let index = index(&tools);
    for (text, expected) in [
        ("会議の予約", "a/kaigi"),
        ("天気", "a/tenki"),
        ("이메일 보내기", "b/mail"),
        ("파일 읽기", "b/file"),
        ("رسالة", "c/salam"),
        ("αρχείο", "d/arthos"),
    ] {
        assert_eq!(first(&index, text), expected, "{text}");
    }
}

#[test]
fn chinese_finds_what_english_describes() {
    let index = index(&servers());
    for (text, expected) in [
        ("天气", "weather/get_forecast"),
        ("发送消息", "slack/post_message"),
    ] {
        assert_eq!(first(&index, text), expected, "{text}");
    }
}

#[test]
fn scripts_may_be_mixed_in_a_query() {
    let tools = [
        tool("a", "post", "发送消息到Slack频道"),
        tool("a", "mail", "发送电子邮件"),
        tool("b", "github_issue", "在GitHub仓库中创建问题"),
    ];
    let index = index(&tools);
    assert_eq!(first(&index, "用slack发消息"), "a/post");
    assert_eq!(first(&index, "GitHub 创建 issue"), "b/github_issue");
}

#[test]
fn hyphenated_names_are_words() {
    let index = index(&servers());
    assert_eq!(first(&index, "read file"), "files/read-text-file");
    assert_eq!(first(&index, "read-file"), "files/read-text-file");
}

#[test]
fn camel_case_divides_in_tools_and_queries() {
    let index = index(&servers());
    assert_eq!(first(&index, "write file"), "files/writeTextFile");
    assert_eq!(first(&index, "writeFile"), "files/writeTextFile");
    let tools = [
        tool("a", "parseHTMLPage", ""),
        tool("a", "parseJSONDocument", ""),
    ];
    let index = crate::world::index(&tools);
    assert_eq!(first(&index, "html"), "a/parseHTMLPage");
    assert_eq!(first(&index, "document json"), "a/parseJSONDocument");
}

#[test]
fn a_compound_is_found_whole_and_in_parts() {
    let tools = [
        tool("a", "x", "Talks to GitHub."),
        tool("a", "y", "Talks to a database."),
        tool("a", "z", "Bakes bread."),
    ];
    let index = index(&tools);
    for (text, expected) in [
        ("github", "a/x"),
        ("GitHub", "a/x"),
        ("data base", "a/y"),
        ("DataBase", "a/y"),
    ] {
        assert_eq!(first(&index, text), expected, "{text}");
    }
}

#[test]
fn digits_divide_words_and_are_words() {
    let tools = [
        tool("a", "sha256_digest", "Computes a digest."),
        tool("a", "md5_digest", "Computes a digest."),
        tool("a", "utf8_decode", "Decodes bytes."),
        tool("a", "error_404", "Explains a status."),
    ];
    let index = index(&tools);
    for (text, expected) in [
        ("sha 256", "a/sha256_digest"),
        ("SHA-256", "a/sha256_digest"),
        ("md5", "a/md5_digest"),
        ("utf-8", "a/utf8_decode"),
        ("status 404", "a/error_404"),
    ] {
        assert_eq!(first(&index, text), expected, "{text}");
    }
}

#[test]
fn the_scope_of_groups_is_kept() {
    let index = index(&servers());
    let groups = vec![group("gitlab"), group("日历")];
    let query = SearchQuery {
        groups,
        limit: 50,
        ..query("issue 日程 find symbol file")
    };
    let found = index.search(&query).unwrap();
    assert!(!found.hits.is_empty());
    assert!(
        found
            .hits
            .iter()
            .all(|hit| query.groups.contains(&hit.key.group))
    );
}

#[test]
fn a_tool_that_was_not_handed_over_changes_nothing() {
    let all = servers();
    let allowed: Vec<_> = all
        .iter()
        .filter(|tool| tool.key.group != *"github")
        .cloned()
        .collect();
    let (without, changed) = (index(&allowed), index(&all));
    changed.replace_group(&group("github"), Vec::new());
    for text in [
        "open issue",
        "source code",
        "find_symbol",
        "create_issue",
        "isue",
        "/./",
        "+github x",
    ] {
        assert_eq!(
            search(&without, text).unwrap(),
            search(&changed, text).unwrap(),
            "{text}"
        );
    }
}

#[test]
fn what_is_absent_is_told_from_what_does_not_fit() {
    let index = index(&servers());
    let found = search(&index, "select:create_invoice,find_symbol").unwrap();
    assert_eq!(found.missing, ["create_invoice"]);
    assert_eq!(found.hits.len(), 1);
    let nothing = search(&index, "bake a cake").unwrap();
    assert!(nothing.hits.is_empty() && nothing.missing.is_empty());
}

#[test]
fn no_good_match_is_an_empty_answer() {
    let index = index(&servers());
    for text in [
        "bake a chocolate cake",
        "tune my violin",
        "qwertyuiop",
        "the of and",
        "烹饪食谱",
        "42",
    ] {
        assert!(
            keys(&index, text).is_empty(),
            "{text}: {:?}",
            keys(&index, text)
        );
    }
}

#[test]
fn an_index_of_nothing_finds_nothing() {
    let index = index(&[]);
    for text in ["anything", "select:a", "/a/", "+a b"] {
        assert!(keys(&index, text).is_empty(), "{text}");
    }
}

#[test]
fn inflections_are_the_same_word() {
    let index = index(&servers());
    for (text, expected) in [
        ("forecasting", "weather/get_forecast"),
        ("forecasts", "weather/get_forecast"),
        ("messages", "slack/post_message"),
        ("messaging channels", "slack/post_message"),
        ("reference to a symbol", "lsp/find_references"),
        ("writing of files", "files/writeTextFile"),
    ] {
        assert_eq!(first(&index, text), expected, "{text}");
    }
}

#[test]
fn abbreviations_stand_for_their_words() {
    let tools = [
        tool("a", "list_repositories", "Shows them."),
        tool("a", "deploy_kubernetes", "Rolls out."),
        tool("a", "query_database", "Asks it."),
        tool("a", "send_message", "Writes to someone."),
        tool("a", "show_configuration", "Prints it."),
        tool("a", "open_pull_request", "Asks for a merge."),
    ];
    let index = index(&tools);
    for (text, expected) in [
        ("repos", "a/list_repositories"),
        ("k8s", "a/deploy_kubernetes"),
        ("db", "a/query_database"),
        ("msg", "a/send_message"),
        ("cfg", "a/show_configuration"),
        ("PR", "a/open_pull_request"),
    ] {
        assert_eq!(first(&index, text), expected, "{text}");
    }
}

#[test]
fn misspelt_words_are_understood() {
    let index = index(&servers());
    for (text, expected) in [
        ("forcast", "weather/get_forecast"),
        ("forecsat", "weather/get_forecast"),
        ("foreccast", "weather/get_forecast"),
        ("weathar", "weather/get_forecast"),
        ("symbl referances", "lsp/find_references"),
        ("send mesage", "slack/post_message"),
        ("creat isue gitlab", "gitlab/create_issue"),
        // A letter once instead of twice, or twice, also in a short word.
        ("gitlab isue", "gitlab/create_issue"),
        ("isue gitlab", "gitlab/create_issue"),
        ("slack posst", "slack/post_message"),
    ] {
        assert_eq!(first(&index, text), expected, "{text}");
    }
}

#[test]
fn a_word_that_some_tool_has_is_not_corrected() {
    let tools = [
        tool("a", "format_table", "Lays out."),
        tool("b", "form_label", "Marks."),
    ];
    assert_eq!(keys(&index(&tools), "label"), ["b/form_label"]);
}

#[test]
fn arguments_and_nested_values_are_searched() {
    let schema = r##"{"type":"object","properties":{"target":{"anyOf":[
        {"type":"object","properties":{"currency":{"type":"string","enum":["euro","zloty"]}}},
        {"$ref":"#/$defs/kind"}]},
        "rows":{"type":"array","items":{"type":"object","properties":{"isbn":{"type":"string",
            "description":"Number of a paperback"}}}}},
        "$defs":{"kind":{"const":"gemstone"}}}"##;
    let tools = [
        tool_with("a", "x", "Does it.", schema),
        tool("a", "y", "Does another."),
    ];
    let index = index(&tools);
    for text in ["currency", "zloty", "isbn", "paperback", "gemstone"] {
        assert_eq!(keys(&index, text), ["a/x"], "{text}");
    }
}

#[test]
fn the_text_of_a_group_is_searched() {
    let mut tools = [
        tool("acme", "run", "Does it."),
        tool("other", "walk", "Does another."),
    ];
    tools[0].group_text = "Payroll: wages and taxes".into();
    assert_eq!(keys(&index(&tools), "wages"), ["acme/run"]);
}

#[test]
fn a_value_says_by_its_form_what_it_is() {
    let tools = [
        tool("a", "send_email", "Writes to somebody."),
        tool("a", "open_url", "Goes there."),
        tool("a", "read_file", "Returns what it holds."),
    ];
    let index = index(&tools);
    assert_eq!(first(&index, "write ann@example.com"), "a/send_email");
    assert_eq!(first(&index, "open https://example.com/a"), "a/open_url");
    assert_eq!(first(&index, "return ~/notes/a.txt"), "a/read_file");
}

#[test]
fn why_a_tool_is_a_hit_is_said() {
    let index = index(&servers());
    let why = |text: &str| search(&index, text).unwrap().hits[0].why;
    assert_eq!(why("find_symbol"), Match::Name);
    assert_eq!(why("find-symbol"), Match::Name);
    assert_eq!(why("codex"), Match::Suffix);
    assert_eq!(why("weather of the next days"), Match::Text);
    assert_eq!(why("/forecast/"), Match::Text);
    assert_eq!(why("select:find_symbol"), Match::Name);
}

#[test]
fn the_parts_of_a_score_say_which_words_made_it() {
    let index = index(&servers());
    let query = query("forecasts for the weather");
    let hit = index.search(&query).unwrap().hits[0].clone();
    let parts = index.explain(&query, &hit.key).unwrap();
    let what: Vec<&str> = parts.iter().map(|part| &*part.what).collect();
    assert!(what.contains(&"name: forecast for forecasts"), "{what:?}");
    assert!(
        what.contains(&"group: weather") && what.contains(&"description: weather"),
        "{what:?}"
    );
    assert!(parts.is_sorted_by(|a, b| a.score >= b.score));
    for text in [
        "get_forecast",
        "select:get_forecast",
        "/forecast/",
        "+weather",
        "+weather next days",
    ] {
        let parts = index.explain(&super::world::query(text), &hit.key).unwrap();
        assert!(!parts.is_empty(), "{text}");
    }
}

#[test]
fn a_group_that_changes_is_searched_as_it_is_now() {
    let index = index(&servers());
    index.replace_group(
        &group("weather"),
        vec![tool("weather", "get_tides", "When the sea is high.")],
    );
    assert!(keys(&index, "next days").is_empty());
    assert_eq!(first(&index, "sea tides"), "weather/get_tides");
    index.replace_group(&group("weather"), Vec::new());
    assert!(keys(&index, "tides").is_empty());
    fill(&index, &servers());
    assert_eq!(first(&index, "forecast"), "weather/get_forecast");
}

#[test]
fn many_threads_search_while_groups_change() {
    let index = index(&servers());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    assert_eq!(first(&index, "find_symbol"), "lsp/find_symbol");
                }
            });
        }
        for round in 0..200 {
            let tools = vec![tool("weather", &format!("forecast_{round}"), "Weather.")];
            index.replace_group(&group("weather"), tools);
        }
    });
    assert_eq!(keys(&index, "weather"), ["weather/forecast_199"]);
}
