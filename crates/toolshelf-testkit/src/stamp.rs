//! How a list of clauses becomes tests, and a table.

/// Makes tests or a table of a list of clauses, which stands in its kit once.
#[doc(hidden)]
#[macro_export]
macro_rules! __clauses {
    (stamp $kit:ident $capability:ident: $($clause:ident),+ $(,)?) => {
        $(
            #[test]
            fn $clause() -> $crate::Verdict {
                $crate::$kit::$clause(&subject())
            }
        )+
    };
    (table $kit:ident $capability:ident: $($clause:ident),+ $(,)?) => {
        [$(
            $crate::Clause {
                name: stringify!($clause),
                capability: stringify!($capability),
                check: $crate::$kit::$clause,
            }
        ),+]
    };
}

/// Stamps the tests of a subject: those that always apply, and those of each capability that
/// is declared.
#[doc(hidden)]
#[macro_export]
macro_rules! __stamp {
    ($kit:ident $list:ident $subject:ident [$($capability:ident)*]) => {
        mod $subject {
            use super::$subject as subject;

            #[test]
            fn declares_the_capabilities_that_it_has() -> $crate::Verdict {
                $crate::$kit::declares_the_capabilities_that_it_has(
                    &subject(),
                    &[$(stringify!($capability)),*],
                )
            }

            $crate::$list!(always stamp);
            $(
                mod $capability {
                    use super::subject;
                    $crate::$list!($capability stamp);
                }
            )*
        }
    };
}
