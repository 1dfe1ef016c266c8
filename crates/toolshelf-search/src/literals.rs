//! Values in a query that tell by their form what they are: a tool for the thing is meant.

/// How many of the pieces between blanks are looked at.
const MOST: usize = 256;

/// What the values in a query are, each once: `email` for an address, `url`, `file`.
pub(crate) fn literals(text: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    // Nothing below is of another form.
    if !text.contains(['/', '@']) && !text.contains("www.") {
        return found;
    }
    for piece in text.split_whitespace().take(MOST) {
        let piece = piece.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '~');
        if let Some(kind) = kind_of(piece)
            && !found.contains(&kind)
        {
            found.push(kind);
        }
    }
    found
}

fn kind_of(piece: &str) -> Option<&'static str> {
    let is_url = ["http://", "https://", "www."]
        .iter()
        .any(|start| piece.starts_with(start));
    let is_path = ["/", "~/", "./", "../"].iter().any(|start| {
        piece
            .strip_prefix(start)
            .is_some_and(|rest| rest.contains('/'))
    });
    if is_url {
        Some("url")
    } else if piece
        .split_once('@')
        .is_some_and(|(user, host)| !user.is_empty() && host.contains('.'))
    {
        Some("email")
    } else if is_path {
        Some("file")
    } else {
        None
    }
}
