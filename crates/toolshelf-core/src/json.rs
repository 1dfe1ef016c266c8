//! JSON that is kept as it came: key order, number literals and repeated keys
//! included, whatever features other crates switch on in `serde_json`.

use std::fmt;
use std::sync::Arc;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::error::{Error, ErrorKind};

/// The deepest nesting that is accepted.
pub const MAX_DEPTH: usize = 96;

/// A JSON value in one canonical byte form that loses nothing of its content.
///
/// * No blanks outside strings.
/// * Key order, repeated keys and number literals as they were written.
/// * Strings with the fewest escapes: non-ASCII characters stand as themselves, so
///   two servers that differ only in how they escape give the same bytes. Half of a
///   surrogate pair (`"\ud83d"`), which is no character and which providers refuse,
///   becomes U+FFFD.
///
/// Cloning shares the text. Serialising writes the text; nothing is parsed again.
///
/// ```
/// use toolshelf_core::JsonText;
/// let schema = JsonText::parse(r#"{ "b": 1.50, "a": "\u00e9" }"#)?;
/// assert_eq!(schema.as_str(), r#"{"b":1.50,"a":"é"}"#);
/// # Ok::<(), toolshelf_core::Error>(())
/// ```
#[derive(Clone)]
pub struct JsonText(Arc<RawValue>);

impl JsonText {
    /// Reads JSON text and brings it into the canonical form.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Protocol`] when the text is not JSON or is nested deeper than
    /// [`MAX_DEPTH`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let raw: &RawValue = serde_json::from_str(text)
            .map_err(|cause| Error::new(ErrorKind::Protocol, format!("not valid JSON: {cause}")))?;
        Self::from_raw(raw)
    }

    /// Brings a raw value into the canonical form.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Protocol`] when it is nested deeper than [`MAX_DEPTH`].
    pub fn from_raw(raw: &RawValue) -> Result<Self, Error> {
        let compact = compact(raw.get())?;
        let raw = RawValue::from_string(compact)
            .map_err(|cause| Error::new(ErrorKind::Protocol, format!("not valid JSON: {cause}")))?;
        Ok(Self(Arc::from(raw)))
    }

    /// Writes a value that this process made itself. The key order is that of the
    /// value's own serialisation.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`] when the value cannot be written as JSON.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        let text = serde_json::to_string(value).map_err(|cause| {
            Error::new(ErrorKind::Internal, format!("cannot write JSON: {cause}"))
        })?;
        Self::parse(&text)
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The object with one member replaced, or added at the end when it is not there.
    /// The other members stay byte for byte.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Protocol`] when the value is not an object.
    pub fn with_member(&self, name: &str, value: &Self) -> Result<Self, Error> {
        let Members(members) = self.read()?;
        let mut out = String::with_capacity(self.len() + value.len());
        let mut replaced = false;
        for (key, member) in &members {
            let member = if key == name {
                replaced = true;
                value.as_str()
            } else {
                member.get()
            };
            push_member(&mut out, key, member)?;
        }
        if !replaced {
            push_member(&mut out, name, value.as_str())?;
        }
        out.push_str(if out.is_empty() { "{}" } else { "}" });
        Self::parse(&out)
    }

    /// The object without one member. The other members stay byte for byte.
    ///
    /// ```
    /// use toolshelf_core::JsonText;
    /// let object = JsonText::parse(r#"{"z":1.50,"b":[],"a":2}"#)?;
    /// assert_eq!(object.without_member("b")?.as_str(), r#"{"z":1.50,"a":2}"#);
    /// assert_eq!(object.without_member("none")?, object);
    /// assert_eq!(JsonText::parse(r#"{"b":1}"#)?.without_member("b")?.as_str(), "{}");
    /// # Ok::<(), toolshelf_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Protocol`] when the value is not an object.
    pub fn without_member(&self, name: &str) -> Result<Self, Error> {
        let Members(members) = self.read()?;
        let mut out = String::with_capacity(self.len());
        for (key, member) in members.iter().filter(|(key, _)| key != name) {
            push_member(&mut out, key, member.get())?;
        }
        out.push_str(if out.is_empty() { "{}" } else { "}" });
        Self::parse(&out)
    }

    /// The length of the text in bytes.
    pub fn len(&self) -> usize {
        self.as_str().len()
    }

    /// Never true: JSON text has at least one byte.
    pub fn is_empty(&self) -> bool {
        self.as_str().is_empty()
    }

    /// Parses into a value. Numbers beyond 64 bits lose precision here, not in the text.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::from_str(self.as_str()).unwrap_or(serde_json::Value::Null)
    }

    /// Reads the text as a type of one's own.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Protocol`] when the text has another shape.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Error> {
        serde_json::from_str(self.as_str())
            .map_err(|cause| Error::new(ErrorKind::Protocol, format!("unexpected JSON: {cause}")))
    }

    /// Whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }

    /// A digest of the content: two texts that differ only in the order of keys have
    /// the same digest. Of repeated keys the last one counts, as it does for readers.
    pub fn digest(&self) -> Digest {
        let mut hasher = Sha256::new();
        let node: Node<'_> = match serde_json::from_str(self.as_str()) {
            Ok(node) => node,
            Err(_) => Node::Other(self.as_str()),
        };
        node.write(&mut hasher);
        Digest(hasher.finalize().into())
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for JsonText {}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_raw(&raw).map_err(serde::de::Error::custom)
    }
}

/// A SHA-256 digest over a canonical form of our own (see [`JsonText::digest`]).
/// Written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Digests the parts of a text, each with its length, so that no two lists of
    /// parts run together.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Self(hasher.finalize().into())
    }

    /// The first `digits` hexadecimal digits.
    pub fn short(&self, digits: usize) -> String {
        let mut text = self.to_string();
        text.truncate(digits);
        text
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.short(12))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fault = || serde::de::Error::custom("a digest is 64 hexadecimal digits");
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(fault());
        }
        let mut bytes = [0; 32];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| fault())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| fault())?;
        }
        Ok(Self(bytes))
    }
}

/// Copies valid JSON without blanks and with the fewest escapes.
fn compact(text: &str) -> Result<String, Error> {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0usize;
    let mut rest = text;
    while let Some(at) = rest.find(['"', '{', '[', '}', ']', ' ', '\t', '\n', '\r']) {
        out.push_str(&rest[..at]);
        let bytes = rest.as_bytes();
        match bytes[at] {
            b'"' => {
                let end = string_end(rest, at);
                let literal = &rest[at..end];
                if literal.contains('\\') {
                    rewrite_string(literal, &mut out)?;
                } else {
                    out.push_str(literal);
                }
                rest = &rest[end..];
                continue;
            }
            open @ (b'{' | b'[') => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(Error::new(
                        ErrorKind::Protocol,
                        format!("JSON is nested deeper than {MAX_DEPTH} levels"),
                    ));
                }
                out.push(char::from(open));
            }
            close @ (b'}' | b']') => {
                depth = depth.saturating_sub(1);
                out.push(char::from(close));
            }
            _ => {}
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The offset after the string literal that begins at `at`.
fn string_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut i = at + 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 2,
            b'"' => return i + 1,
            _ => i += 1,
        }
    }
    text.len()
}

fn rewrite_string(literal: &str, out: &mut String) -> Result<(), Error> {
    let text: String = match serde_json::from_str(literal) {
        Ok(text) => text,
        Err(_) => serde_json::from_str(&without_lone_surrogates(literal)).map_err(|cause| {
            Error::new(ErrorKind::Protocol, format!("not a JSON string: {cause}"))
        })?,
    };
    let written = serde_json::to_string(&text)
        .map_err(|cause| Error::new(ErrorKind::Internal, format!("cannot write JSON: {cause}")))?;
    out.push_str(&written);
    Ok(())
}

/// A string literal in which halves of surrogate pairs are escapes of U+FFFD.
fn without_lone_surrogates(literal: &str) -> String {
    let mut out = String::with_capacity(literal.len());
    let mut rest = literal;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match unit(rest) {
            // Any other escape: the backslash and one ASCII character.
            None => 2,
            Some(0xd800..=0xdbff) if matches!(unit(&rest[6..]), Some(0xdc00..=0xdfff)) => 12,
            Some(0xd800..=0xdfff) => {
                out.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            Some(_) => 6,
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// The number in an escape such as `\u00e9` at the beginning of a text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

fn push_member(out: &mut String, key: &str, value: &str) -> Result<(), Error> {
    out.push(if out.is_empty() { '{' } else { ',' });
    let key = serde_json::to_string(key)
        .map_err(|cause| Error::new(ErrorKind::Internal, format!("cannot write JSON: {cause}")))?;
    out.push_str(&key);
    out.push(':');
    out.push_str(value);
    Ok(())
}

/// The members of an object in their order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// JSON for digesting: scalars as they are written, members sorted by key.
enum Node<'a> {
    Object(std::collections::BTreeMap<String, Node<'a>>),
    Array(Vec<Node<'a>>),
    Other(&'a str),
}

impl Node<'_> {
    fn write(&self, out: &mut Sha256) {
        match self {
            Node::Other(text) => out.update(text.as_bytes()),
            Node::Array(items) => {
                out.update(b"[");
                for item in items {
                    item.write(out);
                    out.update(b",");
                }
                out.update(b"]");
            }
            Node::Object(members) => {
                out.update(b"{");
                for (key, value) in members {
                    out.update((key.len() as u64).to_le_bytes());
                    out.update(key.as_bytes());
                    out.update(b":");
                    value.write(out);
                    out.update(b",");
                }
                out.update(b"}");
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Scalars are taken as raw text, so that `1.0` and `1e0` stay what they are;
        // only containers are opened.
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        let text = raw.get();
        match text.as_bytes().first() {
            Some(b'{' | b'[') => {
                let mut inner = serde_json::Deserializer::from_str(text);
                inner
                    .deserialize_any(NodeVisitor)
                    .map_err(serde::de::Error::custom)
            }
            _ => Ok(Node::Other(text)),
        }
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object or array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node<'de>, A::Error> {
        let mut members = std::collections::BTreeMap::new();
        while let Some((key, value)) = map.next_entry::<String, Node<'de>>()? {
            members.insert(key, value);
        }
        Ok(Node::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::Array(items))
    }
}
