//! Words that say little about which tool is meant.
//!
//! Stop words are not indexed and not looked for. Words of a request as such ("I would
//! like to …") are indexed, since a description may mean them, but count little in a
//! query: in a small catalog their rarity says nothing.

use std::collections::HashSet;
use std::sync::LazyLock;

const STOP: &str = "\
a about above after again all also am an and any are aren as at be because been before being below \
between both but by can cannot could couldn d did didn do does doesn doing don down during each \
either else etc ever every few for from further had has hasn have having he her here hers him his \
how however i if in into is isn it its itself just ll m may me might more most must my myself no \
nor not of off on once only or other otherwise ought our ours out over own per rather re s same \
shall she should shouldn so some such t than that the their theirs them themselves then there \
these they this those though through thus to too under until up upon us ve very was we were what \
whatever when where whether which while who whom whose why will with within without won would \
wouldn yes yet you your yours yourself";

const TALK: &str = "\
able actually advice allow already always another anyone anything appreciate around ask asking assist \
assistance available away back basically best better bit bring bunch certain come comprehensive couple \
currently curious day detail detailed details different easy effort enable enough ensure especially \
essential everything exactly example existing fan find finding fine first follow following friend \
general get getting give giving go going good got great guide guys happy hello help helpful helping \
hey hi hope hoping idea important including information inside instead interested interesting keep kind kindly know \
last later latest lately least let level like likely little long look looking lot love made make making many \
maybe mean much multiple my need needed needs never new next nice now offer okay old one ones options part \
particular people perform person pick planning please possible prefer preferably pretty provide provided \
providing purpose put quick quickly really recent recently recommend recommendation recommendations regarding \
related relevant right run said say see seem several show similar simple simply since somehow someone something \
specific specifically start still stuff suggest suggestion suggestions support supposed sure take talk task \
tell tells thank thanks thing things think three together today tool tools top toward towards tried try \
trying two understand upcoming use used useful user users using usually various via visit want wanted wants way ways well \
whole wish wonder wondering work working worth";

/// Characters of Chinese that bind a sentence together; a pair that holds one is no word
/// that a tool is found by.
const CHINESE_STOP: &str = "的了吗呢吧啊请我你您们这那么什怎哪帮想";

/// Pairs of Chinese characters that only make a request of what follows.
const CHINESE_TALK: &str = "一下 一个 可以 需要 如何 能否 是否 关于 进行 使用 所有 现在 有没 没有 一些 给出 并且 以及 今天 最近 最新 指定 根据 通过";

static STOP_WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| STOP.split_ascii_whitespace().collect());

static TALK_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    TALK.split_ascii_whitespace()
        .chain(CHINESE_TALK.split_ascii_whitespace())
        .collect()
});

/// Whether a word is passed over in tools and queries.
pub(crate) fn is_stop(word: &str) -> bool {
    let mut chars = word.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some(only), None, _) => only.is_ascii_alphabetic(),
        (Some(a), Some(b), None) if !a.is_ascii() => {
            CHINESE_STOP.contains(a) || CHINESE_STOP.contains(b)
        }
        _ => STOP_WORDS.contains(word),
    }
}

/// Whether a word belongs to the request rather than to what is requested.
pub(crate) fn is_talk(word: &str) -> bool {
    TALK_WORDS.contains(word)
}
