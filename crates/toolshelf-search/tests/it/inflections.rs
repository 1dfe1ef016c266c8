//! Inflections: a word is found by its other forms.

use crate::world::{index, keys, tool};

/// Each of some forms of a word finds the tool whose text has another one, and none finds what
/// has another word.
fn are_one(forms: &[&str]) {
    for written in forms {
        let index = index(&[
            tool("a", "alpha", &format!("Handles {written} here.")),
            tool("b", "beta", "Handles zeppelins here."),
        ]);
        for asked in forms {
            assert_eq!(keys(&index, asked), ["a/alpha"], "{asked} for {written}");
            let required = format!("+{asked}");
            assert_eq!(
                keys(&index, &required),
                ["a/alpha"],
                "{required}: {written}"
            );
        }
    }
}

#[test]
fn an_abbreviation_is_found_by_its_plural_and_the_other_way() {
    for one in [
        "SKU", "PR", "CSV", "PDF", "VM", "DB", "GPU", "CPU", "SLA", "VPC", "API", "URL", "ID",
    ] {
        let lower = one.to_lowercase();
        are_one(&[one, &format!("{one}s"), &lower, &format!("{lower}s")]);
    }
}

#[test]
fn forms_that_no_rule_makes_are_found_by_each_other() {
    for forms in [
        ["alias", "aliases"],
        ["bus", "buses"],
        ["gas", "gases"],
        ["quiz", "quizzes"],
        ["leaf", "leaves"],
        ["index", "indices"],
        ["child", "children"],
        ["person", "people"],
        ["matrix", "matrices"],
        ["send", "sent"],
        ["pay", "paid"],
        ["write", "written"],
        ["sell", "sold"],
        ["choose", "chosen"],
        ["sending", "sent"],
        ["status", "statuses"],
    ] {
        are_one(&forms);
    }
}

#[test]
fn what_only_looks_like_a_plural_is_a_word() {
    for [one, other] in [
        ["bus", "bu"],
        ["css", "cs"],
        ["gas", "ga"],
        ["class", "clas"],
    ] {
        let index = index(&[tool("a", "alpha", one), tool("b", "beta", other)]);
        assert_eq!(keys(&index, &format!("+{one}")), ["a/alpha"]);
    }
}

#[test]
fn words_of_russian_and_greek_are_found_by_their_forms() {
    are_one(&["сообщение", "сообщения", "сообщений", "Сообщению"]);
    are_one(&["ёлка", "елки", "ёлку"]);
    are_one(&["αρχείο", "αρχεία", "ΑΡΧΕΊΟΥ"]);
}
