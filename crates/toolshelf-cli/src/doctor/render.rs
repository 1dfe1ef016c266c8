//! Findings for people.

use super::findings::{Finding, Health, Patient, Report, Severity};
use super::program::Program;
use crate::output::{Look, Output, counted, cut, wrap};

/// How many tools of a finding are listed.
const SHOWN_TOOLS: usize = 5;

/// How many lines of a fact are shown: the last ones say most.
const SHOWN_LINES: usize = 6;

/// Where what is said begins.
const INDENT: usize = 12;

/// The whole report.
pub(crate) fn render(report: &Report, output: &Output) -> String {
    let mut page = Page {
        output,
        text: String::new(),
    };
    page.heading("environment", Look::Strong, "");
    match &report.config {
        Some(place) => page.line("config", &format!("{} ({})", place.path, place.because)),
        None => page.line("config", "the sample servers"),
    }
    if let Some(place) = &report.cache {
        page.line("cache", &format!("{} ({})", place.path, place.because));
    }
    page.findings(&report.findings);
    for server in &report.servers {
        page.text.push('\n');
        page.server(server);
    }
    page.text.push('\n');
    page.summary(report);
    page.text
}

struct Page<'a> {
    output: &'a Output,
    text: String,
}

impl Page<'_> {
    fn heading(&mut self, name: &str, look: Look, state: &str) {
        self.text.push_str(&self.output.paint(Look::Strong, name));
        if !state.is_empty() {
            let state = self.output.paint(look, state);
            self.text.push_str(&format!("  {state}"));
        }
        self.text.push('\n');
    }

    /// A label and what is said under it, in lines that fit.
    fn block(&mut self, label: &str, look: Option<Look>, text: &str) {
        let width = self.output.width.saturating_sub(INDENT);
        let label = format!("{label:width$}", width = INDENT - 2);
        let label = match look {
            Some(look) => self.output.paint(look, &label),
            None => label,
        };
        let lines = wrap(text, width);
        let rest = format!("\n{}", " ".repeat(INDENT));
        self.text
            .push_str(format!("  {label}{}", lines.join(&rest)).trim_end());
        self.text.push('\n');
    }

    fn line(&mut self, label: &str, text: &str) {
        self.block(label, Some(Look::Faint), text);
    }

    /// A line under what was said, cut or broken where it is too long.
    fn detail(&mut self, text: &str) {
        for line in wrap(text, self.output.width.saturating_sub(INDENT + 2)) {
            let line = format!("{:width$}{line}", "", width = INDENT + 2);
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }

    fn cut_detail(&mut self, text: &str) {
        self.detail(&cut(text, self.output.width.saturating_sub(INDENT + 2)));
    }

    fn server(&mut self, server: &Patient) {
        let look = match server.health {
            Health::Ready => Look::Good,
            Health::Failed | Health::Faulty => Look::Bad,
            Health::Disabled => Look::Faint,
        };
        self.heading(&server.id, look, server.health.as_str());
        if matches!(server.health, Health::Ready | Health::Failed) {
            self.line("entry", "sound");
        }
        if let Some((name, program)) = &server.command {
            match program {
                Program::Found(path) => self.line("command", &path.display().to_string()),
                _ => self.line("command", &format!("{name} (cannot be started)")),
            }
        }
        if let (Some(took), Some(limit)) = (server.took, server.limit)
            && server.connection.is_some()
        {
            let (took, limit) = (took.as_secs_f64(), limit.as_secs_f64());
            self.line(
                "started",
                &format!("in {took:.1} s, of {limit:.0} s at most"),
            );
        }
        if let Some(connection) = &server.connection {
            let revision = connection.revision.as_deref().unwrap_or("unknown");
            let how = if connection.handshake {
                "with handshake"
            } else {
                "without handshake"
            };
            let mut protocol = format!("{revision}, {how}");
            if let Some(name) = &connection.name {
                let version = connection.version.as_deref().unwrap_or_default();
                protocol.push_str(format!("; {} {}", cut(name, 40), cut(version, 20)).trim_end());
            }
            self.line("protocol", &protocol);
            self.line(
                "tools",
                &format!(
                    "{}, {}, {}",
                    counted(connection.tools, "tool"),
                    counted(connection.tokens, "token"),
                    counted(connection.bytes, "byte")
                ),
            );
        }
        self.findings(&server.findings);
    }

    fn findings(&mut self, findings: &[Finding]) {
        for finding in findings {
            self.finding(finding);
        }
    }

    fn finding(&mut self, finding: &Finding) {
        let look = match finding.severity {
            Severity::Error => Look::Bad,
            Severity::Warning => Look::Theirs,
            Severity::Note => Look::Ours,
        };
        self.block(finding.severity.as_str(), Some(look), &finding.text);
        for (name, text) in &finding.facts {
            let lines: Vec<&str> = text.lines().collect();
            let from = lines.len().saturating_sub(SHOWN_LINES);
            match &lines[from..] {
                [] => {}
                [line] => self.detail(&format!("{name}: {line}")),
                lines => {
                    self.detail(&format!("{name}:"));
                    for line in lines {
                        self.detail(&format!("| {line}"));
                    }
                }
            }
        }
        self.tools(&finding.tools);
        self.block("  mend:", None, &finding.mend);
    }

    fn tools(&mut self, tools: &[(String, Option<String>)]) {
        let shown = &tools[..tools.len().min(SHOWN_TOOLS)];
        let rest = match tools.len() - shown.len() {
            0 => String::new(),
            rest => format!("and {rest} more (--json lists them)"),
        };
        if shown.iter().all(|(_, about)| about.is_none()) {
            let mut names: Vec<String> = shown.iter().map(|(name, _)| named(name)).collect();
            names.extend((!rest.is_empty()).then_some(rest));
            if !names.is_empty() {
                self.detail(&names.join(", "));
            }
            return;
        }
        for (name, about) in shown {
            let about = about.as_deref().unwrap_or_default();
            self.cut_detail(&format!("{}: {about}", named(name)));
        }
        if !rest.is_empty() {
            self.detail(&rest);
        }
    }

    fn summary(&mut self, report: &Report) {
        let [errors, warnings, notes] =
            [Severity::Error, Severity::Warning, Severity::Note].map(|one| report.count(one));
        let look = match (errors, warnings) {
            (0, 0) => Look::Good,
            (0, _) => Look::Theirs,
            _ => Look::Bad,
        };
        let found = format!(
            "{}, {}, {}",
            counted(errors, "error"),
            counted(warnings, "warning"),
            counted(notes, "note")
        );
        let ready = report.servers_that_are(Health::Ready);
        self.text.push_str(&format!(
            "{} of {} ready; {}\n",
            ready,
            counted(report.servers.len(), "server"),
            self.output.paint(look, &found)
        ));
    }
}

/// A tool's name in a line.
fn named(name: &str) -> String {
    match cut(name, 48) {
        name if name.is_empty() => "(empty)".to_owned(),
        name => name,
    }
}
