//! The setting by which users of tool search choose a mode.

use serde_json::{Value, json};

/// The variables that hold the setting; the first that is set counts. One that is empty is not
/// set.
pub const SETTING_VARIABLES: [&str; 2] = ["ENABLE_SEARCH_EXTRA_TOOLS", "ENABLE_TOOL_SEARCH"];

/// The share of the context window in percent, where `auto` does not say another.
const DEFAULT_PERCENT: u8 = 10;

/// What the setting means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchMode {
    /// Tools are always deferred.
    Tst,
    /// They are from this share of the context window on, in percent: 1 to 99.
    TstAuto(u8),
    /// They never are.
    Standard,
}

impl SearchMode {
    /// The name of the strategy.
    pub fn strategy(self) -> &'static str {
        match self {
            Self::Tst => "tst",
            Self::TstAuto(_) => "tst-auto",
            Self::Standard => "standard",
        }
    }

    /// The options for it.
    pub fn options(self) -> Value {
        match self {
            Self::TstAuto(percent) => json!({ "percent": percent }),
            Self::Tst | Self::Standard => Value::Null,
        }
    }
}

/// A mode, and what was odd about the setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The mode.
    pub mode: SearchMode,
    /// The variable that said so; `None` where none is set.
    pub variable: Option<&'static str>,
    /// A line for the operator, where the value is not one of those that are known.
    pub warning: Option<String>,
}

/// Reads the setting, such as from [`std::env::var`].
///
/// | value | mode |
/// |---|---|
/// | unset or empty; `true`, `1`, `yes`, `on` | tst |
/// | `auto` | tst-auto at 10 % |
/// | `auto:N` | N is brought into 0 to 100; 0 = tst, 100 = standard, else tst-auto at N % |
/// | `auto:rubbish` | tst-auto at 10 %, with a warning |
/// | `false`, `0`, `no`, `off` | standard |
/// | anything else | tst, with a warning |
///
/// Case and blanks around the value do not count.
///
/// ```
/// use toolshelf_strategies::{SearchMode, search_setting};
/// let setting = search_setting(|name| (name == "ENABLE_TOOL_SEARCH").then(|| "auto:25".into()));
/// assert_eq!(setting.mode, SearchMode::TstAuto(25));
/// assert_eq!(search_setting(|_| None).mode, SearchMode::Tst);
/// ```
pub fn search_setting(look_up: impl Fn(&str) -> Option<String>) -> Setting {
    for variable in SETTING_VARIABLES {
        if let Some(value) = look_up(variable).filter(|value| !value.trim().is_empty()) {
            let (mode, fault) = read(&value);
            return Setting {
                mode,
                variable: Some(variable),
                warning: fault.map(|fault| format!("{variable}: {fault}")),
            };
        }
    }
    Setting {
        mode: SearchMode::Tst,
        variable: None,
        warning: None,
    }
}

fn read(value: &str) -> (SearchMode, Option<String>) {
    let value = value.trim().to_ascii_lowercase();
    match value.as_str() {
        "true" | "1" | "yes" | "on" => (SearchMode::Tst, None),
        "false" | "0" | "no" | "off" => (SearchMode::Standard, None),
        "auto" => (SearchMode::TstAuto(DEFAULT_PERCENT), None),
        other => match other.strip_prefix("auto:") {
            Some(percent) => read_percent(percent.trim()),
            None => {
                let shown = toolshelf_core::text::one_line(other, 40);
                let fault = format!(
                    "'{shown}' is no value; true, false, auto and auto:PERCENT are. Tools are deferred"
                );
                (SearchMode::Tst, Some(fault))
            }
        },
    }
}

fn read_percent(text: &str) -> (SearchMode, Option<String>) {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let shown = toolshelf_core::text::one_line(text, 40);
        let fault =
            format!("'auto:{shown}' has no whole number of percent; {DEFAULT_PERCENT} is taken");
        return (SearchMode::TstAuto(DEFAULT_PERCENT), Some(fault));
    }
    // What has more digits than fit is beyond the bounds on its side.
    let percent = match (text.starts_with('-'), digits.parse::<u64>()) {
        (true, _) => 0,
        (false, number) => number.unwrap_or(u64::MAX).min(100),
    };
    let mode = match percent {
        0 => SearchMode::Tst,
        100 => SearchMode::Standard,
        percent => SearchMode::TstAuto(percent as u8),
    };
    (mode, None)
}
