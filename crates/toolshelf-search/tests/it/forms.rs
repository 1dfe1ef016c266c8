//! The forms of a query.

use toolshelf_core::search::{IndexedTool, Match, SearchIndex, SearchQuery};
use toolshelf_core::{Error, ErrorKind, JsonText, ToolDefinition, wire_name};
use toolshelf_search::Lexical;

use crate::world::{first, group, index, keys, query, search, servers, tool, tool_with};

fn why(index: &Lexical, text: &str) -> Option<Match> {
    search(index, text).unwrap().hits.first().map(|hit| hit.why)
}

fn refused(text: &str) -> Error {
    let error = search(&index(&servers()), text).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{text}");
    error
}

/// A tool, and ten others whose texts hold its name more often than it does.
fn crowded(name: &str, words: &str) -> Vec<IndexedTool> {
    let praise = format!("{name} {words} ").repeat(8);
    let schema = format!(
        r#"{{"type":"object","properties":{{"{name}":{{"type":"string","description":"{praise}"}}}}}}"#
    );
    let mut tools = vec![tool("plain", name, "")];
    for number in 0..10 {
        let other = format!("{name}_{number}_{name}");
        tools.push(tool_with("loud", &other, &praise, &schema));
    }
    tools
}

#[test]
fn a_name_in_any_writing_is_first_among_texts_full_of_its_words() {
    let index = index(&crowded("find_symbol_uses", "find symbol uses"));
    for text in [
        "find_symbol_uses",
        "find-symbol-uses",
        "find symbol uses",
        "find.symbol.uses",
        "find/symbol/uses",
        "findSymbolUses",
        "FindSymbolUses",
        "FIND_SYMBOL_USES",
        "Find Symbol Uses",
        "findsymboluses",
        "  find_symbol_uses\n",
        "`find_symbol_uses`",
        "ｆｉｎｄ＿ｓｙｍｂｏｌ＿ｕｓｅｓ",
        "plain/find_symbol_uses",
        "plain/FindSymbolUses",
        "plain__find_symbol_uses",
        "mcp__plain__find_symbol_uses",
        "plain find symbol uses",
    ] {
        assert_eq!(first(&index, text), "plain/find_symbol_uses", "{text}");
        assert_eq!(why(&index, text), Some(Match::Name), "{text}");
    }
}

#[test]
fn a_name_of_each_style_is_found_in_each_other() {
    let styles = [
        "read-text-file",
        "read_text_file",
        "readTextFile",
        "ReadTextFile",
        "read.text.file",
    ];
    for name in styles {
        let index = index(&crowded(name, "read text file"));
        for text in styles.iter().chain(&["read text file", "READ TEXT FILE"]) {
            assert_eq!(first(&index, text), format!("plain/{name}"), "{text}");
        }
    }
}

#[test]
fn a_name_of_signs_alone_is_a_name() {
    let index = index(&[
        tool("a", "🚀", "Starts it."),
        tool("a", "⏹", "Ends it."),
        tool("b", "++", ""),
    ]);
    for (text, expected) in [
        ("🚀", "a/🚀"),
        (" ⏹ ", "a/⏹"),
        ("++", "b/++"),
        ("a/🚀", "a/🚀"),
    ] {
        assert_eq!(keys(&index, text), [expected], "{text}");
    }
    assert_eq!(
        search(&index, "🧨").unwrap_err().kind(),
        ErrorKind::InvalidArguments
    );
    assert_eq!(search(&index, "select:🚀,🧨").unwrap().missing, ["🧨"]);
}

#[test]
fn a_name_that_looks_like_another_form_is_a_name() {
    let tools = [
        tool("a", "+one", "Adds."),
        tool("a", "select:two", "Selects."),
        tool("a", "regex:(", "Matches."),
        tool("a", "b  c", "Two blanks."),
        tool("a", "b c", "One blank."),
        tool("one", "two", "one two select"),
    ];
    let index = index(&tools);
    for name in ["+one", "select:two", "regex:(", "b  c", "b c"] {
        assert_eq!(first(&index, name), format!("a/{name}"));
    }
}

#[test]
fn the_writing_that_is_exact_comes_before_those_that_are_alike() {
    let tools = [
        tool("a", "getUser", "Returns a user."),
        tool("b", "get_user", "Returns a user."),
        tool("c", "get-user", "Returns a user."),
    ];
    let index = index(&tools);
    for (text, expected) in [("getUser", "a"), ("get_user", "b"), ("get-user", "c")] {
        assert_eq!(first(&index, text), format!("{expected}/{text}"));
        assert_eq!(keys(&index, text).len(), 3);
    }
    assert_eq!(
        keys(&index, "get user"),
        ["a/getUser", "b/get_user", "c/get-user"]
    );
}

#[test]
fn a_group_before_the_name_tells_which_one() {
    let index = index(&servers());
    for text in [
        "gitlab/create_issue",
        "gitlab__create_issue",
        "mcp__gitlab__create_issue",
        "GitLab/createIssue",
        "gitlab create issue",
        "gitlab.create_issue",
    ] {
        assert_eq!(first(&index, text), "gitlab/create_issue", "{text}");
    }
    assert_eq!(first(&index, "日历/创建日程"), "日历/创建日程");
}

#[test]
fn a_group_with_a_prefix_is_known_without_it() {
    let index = index(&[
        tool("mcp:github", "star", "Marks it."),
        tool("other", "star_chart", "The sky."),
    ]);
    for text in [
        "mcp:github/star",
        "github__star",
        "github/star",
        "mcp__github__star",
    ] {
        assert_eq!(first(&index, text), "mcp:github/star", "{text}");
    }
}

#[test]
fn a_qualified_name_of_many_words_is_a_name() {
    let long_group = "a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r";
    let long_name = "one_two_three_four_five_six_seven_eight_nine_ten_eleven_twelve_thirteen_fourteen_fifteen_sixteen";
    let tools = [
        tool(long_group, "run", "Runs."),
        tool("other", "run", "Runs."),
        tool("group", long_name, "Counts."),
    ];
    let index = index(&tools);
    assert_eq!(
        first(&index, &format!("{long_group}/run")),
        format!("{long_group}/run")
    );
    assert_eq!(
        first(&index, &format!("mcp__{long_group}__run")),
        format!("{long_group}/run")
    );
    assert_eq!(
        first(&index, &format!("group__{long_name}")),
        format!("group/{long_name}")
    );
}

#[test]
fn the_name_in_a_request_finds_its_tool_even_when_it_was_altered() {
    let odd = tool("my.server", "отправить письмо", "Sends mail.");
    let long = tool("files", &"very_long_name_".repeat(8), "Reads.");
    let index = index(&[
        odd.clone(),
        long.clone(),
        tool("other", "send", "Sends mail."),
    ]);
    for tool in [odd, long] {
        let text = wire_name(&tool.key.group, &tool.key.tool);
        assert_eq!(first(&index, &text), tool.key.to_string(), "{text}");
    }
}

#[test]
fn the_end_of_one_name_alone_names_it() {
    let index = index(&servers());
    for text in [
        "ask_codex",
        "AskCodex",
        "ask codex",
        "codex",
        "plugin_x__ask_codex",
    ] {
        assert_eq!(
            first(&index, text),
            "hub/mcp__plugin_x__ask_codex",
            "{text}"
        );
        assert_eq!(why(&index, text), Some(Match::Suffix), "{text}");
    }
}

#[test]
fn an_end_that_two_names_share_names_neither() {
    let tools = [
        tool("a", "x_ask_agent", "Asks."),
        tool("b", "y_ask_agent", "Asks."),
    ];
    let index = index(&tools);
    let found = search(&index, "ask_agent").unwrap();
    assert_eq!(found.hits.len(), 2);
    assert!(found.hits.iter().all(|hit| hit.why == Match::Text));
    assert_eq!(
        search(&index, "select:ask_agent").unwrap().missing,
        ["ask_agent"]
    );
}

#[test]
fn an_end_within_a_word_is_none() {
    let index = index(&[tool("a", "create_reissue", "Makes it anew.")]);
    assert_eq!(search(&index, "select:issue").unwrap().missing, ["issue"]);
    assert_eq!(search(&index, "select:reissue").unwrap().hits.len(), 1);
}

#[test]
fn a_whole_name_is_no_end_of_another() {
    let index = index(&[
        tool("a", "search", "Searches."),
        tool("b", "web_search", "Searches the web."),
    ]);
    assert_eq!(first(&index, "search"), "a/search");
    assert_eq!(why(&index, "search"), Some(Match::Name));
}

#[test]
fn selected_names_are_found_in_any_writing_and_the_others_are_missing() {
    let found = search(
        &index(&servers()),
        "select: find-symbol, `ReadTextFile` ,github/list_issues, ask_codex, 'nothing_such', \"mcp__slack__post_message\",,",
    )
    .unwrap();
    let keys: Vec<String> = found.hits.iter().map(|hit| hit.key.to_string()).collect();
    assert_eq!(
        keys,
        [
            "lsp/find_symbol",
            "files/read-text-file",
            "github/list_issues",
            "hub/mcp__plugin_x__ask_codex",
            "slack/post_message"
        ]
    );
    assert_eq!(found.missing, ["nothing_such"]);
    assert_eq!(found.hits[3].why, Match::Suffix);
}

#[test]
fn more_may_be_selected_than_the_limit() {
    let index = index(&servers());
    let found = index
        .search(&SearchQuery {
            limit: 1,
            ..query("SELECT:find_symbol,find_references,search_code,search_code")
        })
        .unwrap();
    assert_eq!(found.hits.len(), 3);
}

#[test]
fn all_tools_of_a_selected_name_are_found_whatever_the_limit() {
    let tools: Vec<_> = (0..65)
        .map(|at| tool(&format!("server-{at}"), "search", ""))
        .collect();
    let select = |tools: &[IndexedTool], text: &str| {
        let query = SearchQuery {
            limit: 1,
            ..query(text)
        };
        index(tools).search(&query)
    };
    assert_eq!(
        select(&tools[..64], "select:search").unwrap().hits.len(),
        64
    );
    let error = select(&tools, "select:search").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    assert!(error.for_model().contains("65 tools"));
    let one = select(&tools, "select:server-7/search").unwrap();
    assert_eq!(one.hits.len(), 1);
}

#[test]
fn a_selection_of_too_many_names_is_refused_as_a_whole() {
    let index = index(&servers());
    let select = |count: usize| {
        let names: Vec<String> = (0..count).map(|at| format!("no_such_tool_{at}")).collect();
        search(&index, &format!("select:{}", names.join(",")))
    };
    assert_eq!(select(64).unwrap().missing.len(), 64);
    let error = select(65).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    assert!(error.for_model().contains("65 names; at most 64"));
    // Nor is a name behind the bytes that are read of other queries passed over.
    assert!(
        select(5_000)
            .unwrap_err()
            .for_model()
            .contains("5000 names")
    );
}

#[test]
fn a_selected_name_of_two_groups_is_both() {
    let index = index(&servers());
    assert_eq!(
        keys(&index, "select:create_issue"),
        ["github/create_issue", "gitlab/create_issue"]
    );
    assert_eq!(
        keys(&index, "select:gitlab/create_issue"),
        ["gitlab/create_issue"]
    );
}

#[test]
fn selecting_nothing_says_what_to_write() {
    for text in ["select:", "select: , ,", "SELECT:``"] {
        assert!(
            refused(text)
                .for_model()
                .contains("select:create_issue,list_issues"),
            "{text}"
        );
    }
}

#[test]
fn a_required_word_filters() {
    let index = index(&servers());
    assert_eq!(
        first(&index, "+gitlab open an issue"),
        "gitlab/create_issue"
    );
    assert_eq!(keys(&index, "+gitlab open an issue").len(), 1);
    assert_eq!(
        keys(&index, "+gitlab +forecast issue"),
        Vec::<String>::new()
    );
    // Before, between and after the others.
    assert_eq!(
        keys(&index, "open issue +gitlab"),
        keys(&index, "+gitlab open issue")
    );
}

#[test]
fn a_required_word_scores_nothing() {
    let index = index(&servers());
    let score = |text: &str, key: &str| {
        let found = search(&index, text).unwrap();
        found
            .hits
            .iter()
            .find(|hit| hit.key.to_string() == key)
            .map(|hit| hit.score)
    };
    // Both of the group have the word; what else is asked for decides, with the same
    // score as in a search of that group for it.
    let scoped = |text: &str| {
        let query = SearchQuery {
            groups: vec![group("slack")],
            ..query(text)
        };
        index.search(&query).unwrap().hits[0].score
    };
    assert_eq!(
        first(&index, "+slack the status of it"),
        "slack/server_status"
    );
    assert_eq!(
        score("+slack send message", "slack/post_message"),
        Some(scoped("send message"))
    );
}

#[test]
fn required_words_alone_list_what_has_them() {
    let index = index(&servers());
    assert_eq!(
        keys(&index, "+slack"),
        ["slack/post_message", "slack/server_status"]
    );
    assert_eq!(keys(&index, "+Slack +status"), ["slack/server_status"]);
    // Nor do words that say nothing ask for more.
    assert_eq!(keys(&index, "what is in +slack"), keys(&index, "+slack"));
}

#[test]
fn words_beside_a_required_one_only_rank() {
    let index = index(&servers());
    // None of its tools has the other word, one of them has, and both do.
    assert_eq!(
        keys(&index, "+slack zeppelin"),
        ["slack/post_message", "slack/server_status"]
    );
    assert_eq!(
        keys(&index, "+slack status"),
        ["slack/server_status", "slack/post_message"]
    );
    assert_eq!(
        keys(&index, "+issue source code"),
        [
            "github/search_code",
            "github/create_issue",
            "github/list_issues",
            "gitlab/create_issue"
        ]
    );
    assert!(keys(&index, "+zeppelin status").is_empty());
    let found = search(&index, "+slack status").unwrap();
    assert_eq!(found.hits[1].score, 0.0);
    let parts = index.explain(&query("+slack status"), &found.hits[1].key);
    assert_eq!(parts.unwrap()[0].what, "pattern or required words");
}

#[test]
fn a_required_word_that_only_descriptions_have_filters_by_them() {
    assert_eq!(
        keys(&index(&servers()), "+chat up"),
        ["slack/server_status"]
    );
}

#[test]
fn required_words_are_looked_for_in_all_that_is_said_of_a_tool() {
    let arguments = r#"{"type":"object","properties":{"room":{"type":"string"}}}"#;
    let named = |group_id: &str, name: &str, description: &str| {
        let mut tool = tool(group_id, name, description);
        tool.group_text = "Plans rooms.".into();
        tool
    };
    let index = index(&[
        named("cal", "list_rooms", ""),
        named("cal", "book", "Books a room."),
        named("cal", "ask", "Asks who is free."),
        tool("rooms", "a_list", "Shows all."),
        tool_with("z", "keep", "", arguments),
    ]);
    // In the name, in other texts, in the name of the server; what is said of a server alone
    // says nothing of its tools.
    let all = ["cal/list_rooms", "cal/book", "z/keep", "rooms/a_list"];
    assert_eq!(keys(&index, "+room"), all);
    assert_eq!(keys(&index, "+Rooms"), all);
    // So they are behind what the other words rank, too.
    let behind = ["z/keep", "cal/list_rooms", "cal/book", "rooms/a_list"];
    assert_eq!(keys(&index, "+room keep"), behind);
}

#[test]
fn a_required_compound_is_one_word_or_its_parts() {
    let index = index(&[
        tool("a", "createIssue", ""),
        tool("b", "create_issue", ""),
        tool("c", "create_branch", ""),
        tool("d", "git_hub", ""),
        tool("e", "star", "Stars it on GitHub."),
        tool("f", "fork", "Forks it on github."),
    ]);
    let both = ["a/createIssue", "b/create_issue"];
    for text in ["+createIssue", "+create_issue", "+create +issue"] {
        assert_eq!(keys(&index, text), both, "{text}");
    }
    for text in ["+GitHub", "+git-hub"] {
        let found = keys(&index, text);
        assert!(found.contains(&"d/git_hub".to_owned()), "{text}");
        assert!(found.contains(&"e/star".to_owned()), "{text}");
    }
    assert!(keys(&index, "+GitHub").contains(&"f/fork".to_owned()));
}

#[test]
fn a_required_word_counts_however_little_it_says() {
    let index = index(&[
        tool("it", "close_ticket", "Ends a ticket."),
        tool("x", "close", "Ends a ticket."),
        tool("desk", "close_all", "Ends the tickets in it."),
    ]);
    assert_eq!(keys(&index, "+it"), ["desk/close_all", "it/close_ticket"]);
    assert_eq!(keys(&index, "+x ticket"), ["x/close"]);
    assert_eq!(keys(&index, "+the ticket"), ["desk/close_all"]);
    assert_eq!(keys(&index, "+it +the"), ["desk/close_all"]);
    assert!(keys(&index, "+y ticket").is_empty());
    // But beside others in one text it binds them together.
    assert_eq!(keys(&index, "+end-of-ticket").len(), 3);
}

#[test]
fn too_many_required_words_are_refused_as_a_whole() {
    let require = |count: usize| {
        let words: Vec<String> = (0..count).map(|at| format!("+word{at}x")).collect();
        search(&index(&servers()), &words.join(" "))
    };
    assert!(require(64).unwrap().hits.is_empty());
    let error = require(65).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    assert!(error.for_model().contains("more than 64 words"));
    // A word counts once.
    assert_eq!(keys(&index(&servers()), &"+slack ".repeat(100)).len(), 2);
}

#[test]
fn a_single_letter_as_a_query_is_what_is_written_so() {
    let index = index(&[
        tool("a", "run_r_script", "Runs a script."),
        tool("a", "build", "Compiles C++."),
        tool("a", "cc", "Compiles plain C, not the client's code."),
        tool("a", "dotnet", "Compiles C#."),
        tool("a", "x", "Nothing, e.g. a pause."),
    ]);
    for (text, expected) in [
        ("R", vec!["a/run_r_script"]),
        ("c++", vec!["a/build"]),
        ("C#", vec!["a/dotnet"]),
        ("c", vec!["a/cc"]),
        ("X", vec!["a/x"]),
        ("s", vec![]),
        ("g", vec![]),
        ("a", vec![]),
    ] {
        assert_eq!(keys(&index, text), expected, "{text}");
    }
    assert_eq!(why(&index, "X"), Some(Match::Name));
}

#[test]
fn a_plus_after_a_word_requires_nothing() {
    let index = index(&[tool("a", "compile", "Compiles C++ and C.")]);
    assert_eq!(keys(&index, "compile c++"), ["a/compile"]);
    assert_eq!(keys(&index, "compile + run"), ["a/compile"]);
}

#[test]
fn only_the_groups_in_scope_are_searched() {
    let index = index(&servers());
    let within = |text: &str, groups: &[&str]| {
        let groups = groups.iter().map(|id| group(id)).collect();
        let found = index
            .search(&SearchQuery {
                groups,
                ..query(text)
            })
            .unwrap();
        let groups: Vec<String> = found
            .hits
            .iter()
            .map(|hit| hit.key.group.to_string())
            .collect();
        groups
    };
    assert_eq!(within("create_issue", &["gitlab"]), ["gitlab"]);
    assert_eq!(within("issue", &["gitlab", "weather"]), ["gitlab"]);
    assert_eq!(within("select:create_issue", &["github"]), ["github"]);
    assert_eq!(within("/issue/", &["gitlab"]), ["gitlab"]);
    assert_eq!(within("+issue open", &["gitlab"]), ["gitlab"]);
    assert_eq!(within("mcp__gitlab__create_issue", &["gitlab"]), ["gitlab"]);
    assert!(within("issue", &["nobody"]).is_empty());
    // One end in scope is unique, though there are two outside.
    assert_eq!(within("codex", &["hub"]), ["hub"]);
}

#[test]
fn a_pattern_fits_names_before_descriptions() {
    let index = index(&servers());
    assert_eq!(
        keys(&index, "/find_.*/"),
        [
            "lsp/find_references",
            "lsp/find_symbol",
            "github/search_code"
        ]
    );
    assert_eq!(
        keys(&index, "regex:^(read|write).*file$"),
        ["files/read-text-file", "files/writeTextFile"]
    );
    assert_eq!(keys(&index, "/FORECAST/i"), ["weather/get_forecast"]);
    assert_eq!(keys(&index, "/^slack/post/"), ["slack/post_message"]);
    assert!(keys(&index, "/no such thing/").is_empty());
}

#[test]
fn a_pattern_fits_what_is_said_of_the_tool_itself() {
    let mut titled = tool("a", "one", "The first.");
    let descriptor = JsonText::parse(
        r#"{"name":"one","title":"Odd number","description":"The first.","inputSchema":{"type":"object"}}"#,
    );
    let parsed = ToolDefinition::from_descriptor(descriptor.unwrap());
    titled.definition = parsed.unwrap().definition.into();
    let mut tools = vec![
        titled,
        tool("a", "two", "Not an odd one."),
        tool("b", "odd", ""),
        tool("odds", "four", ""),
        tool("c", "three", ""),
    ];
    for tool in &mut tools {
        tool.group_text = "Odd numbers".into();
    }
    let index = index(&tools);
    assert_eq!(
        keys(&index, "/odd/"),
        ["b/odd", "odds/four", "a/one", "a/two"]
    );
    assert!(keys(&index, "/^$/").is_empty());
}

#[test]
fn a_flag_behind_a_pattern_is_i_or_refused() {
    let index = index(&servers());
    assert_eq!(keys(&index, "/^FIND_S/i"), ["lsp/find_symbol"]);
    for text in ["/^find_/g", "/^find_/gi", "/^find_/x"] {
        let advice = refused(text).for_model().to_owned();
        assert!(advice.contains("Only `i` is"), "{text}: {advice}");
    }
    // Not flags: letters that are none, or twice, as at the end of a path.
    for text in ["/usr/bin", "/home/mm", "/text/file.txt"] {
        assert!(search(&index, text).is_ok(), "{text}");
    }
}

#[test]
fn a_pattern_answers_with_no_more_than_the_limit() {
    let index = index(&servers());
    let found = index
        .search(&SearchQuery {
            limit: 3,
            ..query("/./")
        })
        .unwrap();
    assert_eq!(found.hits.len(), 3);
}

#[test]
fn a_pattern_that_cannot_be_read_says_what_is_wrong_and_what_to_do() {
    for (text, says) in [
        ("/(/", "unclosed group"),
        ("regex:[a-", "unclosed character class"),
        ("regex:", "1 to 512 bytes"),
        (r"/(a)\1/", "backreference"),
        ("/(?=a)/", "look-around"),
        (r"/(\w{200}){200}/", "size limit"),
    ] {
        let error = refused(text);
        let advice = error.for_model();
        assert!(advice.contains(says), "{text}: {advice}");
        assert!(
            advice.contains("plain words") && advice.len() < 600,
            "{text}: {advice}"
        );
        assert!(
            !advice.contains("..") && !advice.contains("error:"),
            "{text}: {advice}"
        );
    }
}

#[test]
fn a_pattern_is_bounded() {
    assert!(
        refused(&format!("/{}/", "a".repeat(600)))
            .for_model()
            .contains("512")
    );
    refused(&format!("/{}/", "(".repeat(200)));
    // What makes other engines try for ever ends at once here.
    let index = index(&[tool("a", "b", &"a".repeat(4_000))]);
    assert!(keys(&index, "/(a+)+(a+)+(a|a)*z$/").is_empty());
}

#[test]
fn a_path_is_words() {
    let index = index(&servers());
    assert_eq!(
        first(&index, "read text file /etc/hosts"),
        "files/read-text-file"
    );
    assert!(search(&index, "/etc/hosts").is_ok());
}

#[test]
fn an_empty_query_says_what_to_write() {
    for text in ["", "   \n\t", "...", "/", "//", "+", "?!", "\u{200b}"] {
        assert!(
            refused(text).for_model().contains("Say in a few words"),
            "{text:?}"
        );
    }
}

#[test]
fn a_limit_of_nothing_is_refused() {
    for text in ["issue", "select:create_issue", "/issue/", "+issue open"] {
        let error = index(&servers())
            .search(&SearchQuery {
                limit: 0,
                ..query(text)
            })
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArguments);
        assert!(error.for_model().contains("1 or more"));
    }
}

#[test]
fn words_before_the_end_of_a_very_long_query_count() {
    let index = index(&servers());
    let long = format!("weather forecast {}", "blah ".repeat(100_000));
    assert!(search(&index, &long).is_ok());
    assert_eq!(
        first(&index, &format!("{}weather forecast", " ".repeat(100_000))),
        "weather/get_forecast"
    );
    assert_eq!(
        first(&index, &"weather forecast ".repeat(10_000)),
        "weather/get_forecast"
    );
}

#[test]
fn nothing_very_long_is_told_back() {
    let index = index(&servers());
    let long = "a".repeat(100_000);
    let found = search(&index, &format!("select:{long},find_symbol")).unwrap();
    assert_eq!(found.hits.len(), 1);
    assert!(found.missing[0].len() < 400 && found.missing[0].ends_with('…'));
    for text in [
        format!("/{long}/"),
        format!("/({}/", &long[..500]),
        format!("select:{}", "a,b,c_".repeat(20_000)),
    ] {
        let refused = match search(&index, &text) {
            Ok(found) => found.missing.concat(),
            Err(error) => format!("{error} {}", error.for_model()),
        };
        assert!(refused.len() < 1_000, "{refused}");
    }
}

#[test]
fn hostile_queries_are_answered() {
    let index = index(&servers());
    for text in [
        "a".repeat(1_000_000),
        "é".repeat(50_000),
        "创".repeat(50_000),
        "aB".repeat(50_000),
        "a1".repeat(50_000),
        "/".repeat(50_000),
        "_".repeat(5_000),
        format!("select:{}", "a,b,".repeat(50_000)),
        format!("select:{}", "a_".repeat(50_000)),
        "+a ".repeat(50_000),
        "e\u{301}\u{301}\u{301}".repeat(10_000),
        "\u{202e}create_issue\u{202c}".to_owned(),
        "create\0issue".to_owned(),
        "'; DROP TABLE tools; --".to_owned(),
        "👩‍👩‍👧‍👦🏳️‍🌈".to_owned(),
    ] {
        match search(&index, &text) {
            Ok(found) => assert!(found.hits.len() <= 5 && found.missing.len() <= 64),
            Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidArguments),
        }
    }
    assert_eq!(first(&index, "create\0issue"), "github/create_issue");
}

/// What a model is told when a query cannot be read. What the regex crate says about a
/// pattern is its own and not pinned.
#[test]
fn the_texts_for_models_are_those_of_the_format() {
    let mut texts: Vec<String> = ["", "select:", "regex:"]
        .map(|text| refused(text).for_model().to_owned())
        .into();
    let none = SearchQuery {
        limit: 0,
        ..query("issue")
    };
    let error = index(&servers()).search(&none).unwrap_err();
    texts.push(error.for_model().to_owned());
    texts.push(refused("/^find_/gi").for_model().to_owned());
    let required: Vec<String> = (0..65).map(|at| format!("+word{at}x")).collect();
    texts.push(refused(&required.join(" ")).for_model().to_owned());
    let names: Vec<String> = (0..65).map(|at| format!("tool_{at}")).collect();
    texts.push(
        refused(&format!("select:{}", names.join(",")))
            .for_model()
            .to_owned(),
    );
    let tools: Vec<_> = (0..65)
        .map(|at| tool(&format!("server-{at}"), "search", ""))
        .collect();
    let error = search(&index(&tools), "select:search").unwrap_err();
    texts.push(error.for_model().to_owned());
    let golden = include_str!("../golden/lexical-1.golden");
    assert_eq!(texts.join("\n") + "\n", golden);
}
