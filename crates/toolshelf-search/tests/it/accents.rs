//! Accents: letters are the same with and without.

use toolshelf_core::search::{Match, SearchIndex};

use crate::world::{first, index, keys, search, tool};

#[test]
fn a_word_is_found_with_and_without_its_accents() {
    let tools = [
        tool("a", "kalenderübersicht", "Zeigt die Woche."),
        tool("a", "buscar_cafe", "Encuentra un café cerca."),
        tool("a", "traduire", "Traduit une œuvre en français."),
        tool("a", "maße", "Rechnet Größen um, auch ÖLFÄSSER."),
        tool("a", "wyślij", "Wysyła wiadomość z Łodzi."),
        tool("a", "x", "Gửi tin nhắn cho bạn bè."),
        tool("a", "smør", "Finner Ærlige venner."),
    ];
    let index = index(&tools);
    for (text, expected) in [
        ("kalenderubersicht", "a/kalenderübersicht"),
        ("KALENDERÜBERSICHT", "a/kalenderübersicht"),
        ("kalenderubersciht", "a/kalenderübersicht"),
        ("café", "a/buscar_cafe"),
        ("cafe\u{301}", "a/buscar_cafe"),
        ("cafe", "a/buscar_cafe"),
        ("cafés", "a/buscar_cafe"),
        ("oeuvre francais", "a/traduire"),
        ("Œuvre FRANÇAIS", "a/traduire"),
        ("masse", "a/maße"),
        ("Grössen", "a/maße"),
        ("GROẞEN", "a/maße"),
        ("olfasser", "a/maße"),
        ("wyslij wiadomosc", "a/wyślij"),
        ("lodzi", "a/wyślij"),
        ("gui tin nhan", "a/x"),
        ("smor", "a/smør"),
        ("aerlige", "a/smør"),
        ("+kalenderubersicht woche", "a/kalenderübersicht"),
        ("select:kalenderubersicht", "a/kalenderübersicht"),
    ] {
        assert_eq!(first(&index, text), expected, "{text}");
    }
}

#[test]
fn of_names_that_differ_in_accents_the_one_that_was_written_is_first() {
    let tools = [
        tool("a", "café", ""),
        tool("a", "cafe", ""),
        tool("b", "cafe\u{301}", ""),
    ];
    let index = index(&tools);
    for (text, expected) in [
        ("café", ["a/café", "a/cafe", "b/cafe\u{301}"]),
        ("cafe", ["a/cafe", "a/café", "b/cafe\u{301}"]),
        ("cafe\u{301}", ["b/cafe\u{301}", "a/cafe", "a/café"]),
        ("CAFÉ", ["a/cafe", "a/café", "b/cafe\u{301}"]),
    ] {
        assert_eq!(keys(&index, text), expected, "{text}");
        let found = search(&index, text).unwrap();
        assert!(found.hits.iter().all(|hit| hit.why == Match::Name));
    }
    assert_eq!(keys(&index, "select:café"), ["a/café"]);
}

#[test]
fn the_end_of_a_name_and_its_group_may_lack_accents() {
    let tools = [
        tool("küche", "rezept_öffnen", "Öffnet es."),
        tool("büro", "brief_schließen", "Schließt ihn."),
    ];
    let index = index(&tools);
    for (text, expected, why) in [
        ("offnen", "küche/rezept_öffnen", Match::Suffix),
        ("schliessen", "büro/brief_schließen", Match::Suffix),
        ("kuche/rezept_offnen", "küche/rezept_öffnen", Match::Name),
        (
            "mcp__buro__brief_schliessen",
            "büro/brief_schließen",
            Match::Name,
        ),
    ] {
        assert_eq!(first(&index, text), expected, "{text}");
        assert_eq!(search(&index, text).unwrap().hits[0].why, why, "{text}");
    }
}

#[test]
fn camel_case_divides_at_letters_with_accents() {
    let tools = [
        tool("a", "listeÉvénements", ""),
        tool("a", "øreÆgLager", ""),
    ];
    let index = index(&tools);
    assert_eq!(first(&index, "evenements"), "a/listeÉvénements");
    assert_eq!(first(&index, "aeg"), "a/øreÆgLager");
}

#[test]
fn greek_and_cyrillic_words_are_found_without_their_accents() {
    let tools = [
        tool("a", "tree", "Ёлка и ещё одна."),
        tool("b", "stress", "Отправля\u{301}ет письмо."),
        tool("c", "human", "Άνθρωπος και προϊόν."),
        tool("d", "ὕδωρ", ""),
    ];
    let index = index(&tools);
    for (text, expected) in [
        ("елка", "a/tree"),
        ("ЁЛКА", "a/tree"),
        ("е\u{308}лка", "a/tree"),
        ("еще", "a/tree"),
        ("отправляет", "b/stress"),
        ("ανθρωπος", "c/human"),
        ("ΑΝΘΡΩΠΟΣ", "c/human"),
        ("α\u{301}νθρωπος", "c/human"),
        ("προιον", "c/human"),
        ("υδωρ", "d/ὕδωρ"),
    ] {
        assert_eq!(keys(&index, text), [expected], "{text}");
    }
}

#[test]
fn marks_of_other_scripts_make_other_letters() {
    let tools = [
        tool("a", "мой", ""),
        tool("a", "мои", ""),
        tool("b", "が", ""),
        tool("b", "か", ""),
    ];
    let index = index(&tools);
    for name in ["мой", "мои", "が", "か"] {
        let found = index.search(&crate::world::query(name)).unwrap();
        let exact: Vec<_> = found
            .hits
            .iter()
            .filter(|hit| hit.why == Match::Name)
            .collect();
        assert_eq!(exact.len(), 1, "{name}");
        assert_eq!(exact[0].key.tool.as_str(), name);
    }
}
