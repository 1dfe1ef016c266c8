//! How much work a validation can be, before it is begun.
//!
//! A validator follows every reference as often as it stands in a schema. Twenty-eight
//! definitions that each refer twice to the next one are a kilobyte of schema and a
//! quarter of a billion checks, and a definition that refers twice to itself does the same
//! with deep arguments. Schemas come from servers, which are not trusted, so what cannot be
//! checked in reasonable time is not begun. The count is an upper bound: it assumes that
//! no alternative ends early.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// The most checks of one validation; about half a second of work. Of 16,741 real tools the
/// largest schema comes to 7,348 with every reference followed.
const MAX_CHECKS: u64 = 2_000_000;

/// Below this many checks with every reference followed, and with no reference that leads back
/// more than once, arguments are not looked at.
const HARMLESS_CHECKS: u64 = 100_000;

/// The most steps of counting, and so the most memory that it takes.
const MAX_STEPS: u64 = 1_000_000;

/// The most schemas that are inside or behind one another. Counting and validating use the
/// stack for each; JSON itself is read to 128 levels.
const MAX_DEPTH: usize = 400;

/// What a reference to a published meta-schema counts. They are large, and well behaved.
const META_SCHEMA_CHECKS: u64 = 1_000;

/// Keywords whose value is a schema that applies to the same place.
const IN_PLACE: &[&str] = &["not", "if", "then", "else"];
/// Keywords whose value is a list of schemas that apply to the same place.
const IN_PLACE_LISTS: &[&str] = &["allOf", "anyOf", "oneOf"];
/// Keywords whose value is a schema that applies to members or items.
const INSIDE: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "contains",
    "items",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value holds a schema for each name; `true` where they apply to members.
const BY_NAME: &[(&str, bool)] = &[
    ("properties", true),
    ("patternProperties", true),
    ("dependentSchemas", false),
    ("dependencies", false),
];
/// Keywords that refer to another schema.
const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// What a schema can cost.
#[derive(Debug)]
pub(crate) enum Cost {
    /// Little, whatever the arguments are.
    Harmless,
    /// It depends on the arguments: the schema is kept to count with them.
    Depends(Box<Value>),
}

impl Cost {
    /// The cost of a schema. An error means that it should not even be compiled.
    pub(crate) fn of(schema: &Value) -> Result<Self, String> {
        let mut schemas = Schemas::new(schema);
        let checks = schemas.checks(schema, None);
        if schemas.too_deep {
            return Err(format!(
                "its references lead through more than {MAX_DEPTH} schemas"
            ));
        }
        if checks <= HARMLESS_CHECKS && !schemas.leads_back_twice {
            Ok(Self::Harmless)
        } else {
            Ok(Self::Depends(Box::new(schema.clone())))
        }
    }

    /// Whether arguments can be validated in reasonable time.
    pub(crate) fn allows(&self, arguments: &Value) -> bool {
        match self {
            Self::Harmless => true,
            Self::Depends(schema) => {
                Schemas::new(schema).checks(schema, Some(arguments)) <= MAX_CHECKS
            }
        }
    }
}

/// A place in the schema, with the place in the arguments that it is applied to. Addresses
/// serve as names: neither value changes or moves while it is counted.
type Pair = (usize, usize);

fn pair(schema: &Value, instance: Option<&Value>) -> Pair {
    let address = |value: &Value| std::ptr::from_ref(value).addr();
    (address(schema), instance.map_or(0, address))
}

/// The schemas that can be referred to, and what has been counted.
struct Schemas<'a> {
    root: &'a Value,
    named: BTreeMap<&'a str, &'a Value>,
    counted: BTreeMap<Pair, u64>,
    open: BTreeSet<Pair>,
    back: BTreeSet<usize>,
    leads_back_twice: bool,
    too_deep: bool,
    steps: u64,
}

impl<'a> Schemas<'a> {
    fn new(root: &'a Value) -> Self {
        let mut named = BTreeMap::new();
        name_all(root, &mut named);
        Self {
            root,
            named,
            counted: BTreeMap::new(),
            open: BTreeSet::new(),
            back: BTreeSet::new(),
            leads_back_twice: false,
            too_deep: false,
            steps: 0,
        }
    }

    /// The checks of a schema: with arguments those that they can cause, without them those of
    /// every part once.
    fn checks(&mut self, schema: &'a Value, instance: Option<&'a Value>) -> u64 {
        let Value::Object(keywords) = schema else {
            return 1;
        };
        let pair = pair(schema, instance);
        if let Some(&known) = self.counted.get(&pair) {
            return known;
        }
        self.steps += 1;
        self.too_deep |= self.open.len() >= MAX_DEPTH;
        if self.too_deep || self.steps > MAX_STEPS {
            return u64::MAX;
        }
        if !self.open.insert(pair) {
            // It leads back. With arguments that means an endless validation, which validators
            // end themselves; without, only the second time is worth a closer look.
            self.leads_back_twice |= !self.back.insert(pair.0);
            return 1;
        }
        let checks = self.of_keywords(keywords, instance);
        self.open.remove(&pair);
        self.counted.insert(pair, checks);
        checks
    }

    fn of_keywords(
        &mut self,
        keywords: &'a Map<String, Value>,
        instance: Option<&'a Value>,
    ) -> u64 {
        let mut checks = 1u64;
        let mut add = |more: u64| checks = checks.saturating_add(more);
        for (keyword, value) in keywords {
            let keyword = keyword.as_str();
            match value {
                Value::String(reference) if REFERENCES.contains(&keyword) => {
                    add(self.of_reference(reference, instance));
                }
                Value::Array(list) if IN_PLACE_LISTS.contains(&keyword) => {
                    for schema in list {
                        add(self.checks(schema, instance));
                    }
                }
                // The items of older drafts, one by one.
                Value::Array(list) if keyword == "items" || keyword == "prefixItems" => {
                    for (at, schema) in list.iter().enumerate() {
                        match instance {
                            None => add(self.checks(schema, None)),
                            Some(Value::Array(items)) => {
                                if let Some(item) = items.get(at) {
                                    add(self.checks(schema, Some(item)));
                                }
                            }
                            Some(_) => {}
                        }
                    }
                }
                Value::Object(_) if IN_PLACE.contains(&keyword) => {
                    add(self.checks(value, instance));
                }
                Value::Object(_) if INSIDE.contains(&keyword) => {
                    add(self.of_children(value, instance));
                }
                Value::Object(names) => {
                    if let Some((_, members)) = BY_NAME.iter().find(|(name, _)| *name == keyword) {
                        add(self.of_names(keyword, *members, names, instance));
                    }
                }
                _ => {}
            }
        }
        checks
    }

    /// A schema that applies to whatever is inside.
    fn of_children(&mut self, schema: &'a Value, instance: Option<&'a Value>) -> u64 {
        let mut checks = 0u64;
        match instance {
            None => checks = self.checks(schema, None),
            Some(Value::Array(items)) => {
                for item in items {
                    checks = checks.saturating_add(self.checks(schema, Some(item)));
                }
            }
            Some(Value::Object(members)) => {
                for member in members.values() {
                    checks = checks.saturating_add(self.checks(schema, Some(member)));
                }
            }
            Some(_) => {}
        }
        checks
    }

    /// Schemas by name.
    fn of_names(
        &mut self,
        keyword: &str,
        members: bool,
        names: &'a Map<String, Value>,
        instance: Option<&'a Value>,
    ) -> u64 {
        let mut checks = 0u64;
        for (name, schema) in names {
            let more = match instance {
                Some(instance) if members && keyword == "properties" => match instance.get(name) {
                    Some(member) => self.checks(schema, Some(member)),
                    None => 0,
                },
                _ if members => self.of_children(schema, instance),
                _ => self.checks(schema, instance),
            };
            checks = checks.saturating_add(more);
        }
        checks
    }

    fn of_reference(&mut self, reference: &'a str, instance: Option<&'a Value>) -> u64 {
        if reference.contains("json-schema.org/") && !self.named.contains_key(reference) {
            return META_SCHEMA_CHECKS;
        }
        match self.resolve(reference) {
            Some(schema) => self.checks(schema, instance),
            // Whatever it leads to cannot be counted.
            None => u64::MAX,
        }
    }

    fn resolve(&self, reference: &str) -> Option<&'a Value> {
        if let Some(schema) = self.named.get(reference) {
            return Some(schema);
        }
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if base.is_empty() {
            self.root
        } else {
            self.named.get(base)?
        };
        if fragment.is_empty() {
            return Some(base);
        }
        if !fragment.starts_with('/') {
            return self.named.get(fragment).copied();
        }
        base.pointer(fragment)
            .or_else(|| base.pointer(&percent_decoded(fragment)?))
    }
}

/// Enters all schemas under `value` that have a name of their own.
fn name_all<'a>(value: &'a Value, named: &mut BTreeMap<&'a str, &'a Value>) {
    match value {
        Value::Object(members) => {
            for keyword in ["$id", "id", "$anchor", "$dynamicAnchor"] {
                if let Some(Value::String(name)) = members.get(keyword) {
                    let name = name.strip_prefix('#').unwrap_or(name);
                    named.entry(name).or_insert(value);
                }
            }
            members.values().for_each(|member| name_all(member, named));
        }
        Value::Array(items) => items.iter().for_each(|item| name_all(item, named)),
        _ => {}
    }
}

/// `%25` and the like decoded; `None` when it is not valid.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
            decoded.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            decoded.push(byte);
        }
    }
    String::from_utf8(decoded).ok()
}
