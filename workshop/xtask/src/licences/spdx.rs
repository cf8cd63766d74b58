//! Licence expressions: `MIT OR (Apache-2.0 WITH LLVM-exception AND BSD-3-Clause)`.
//!
//! `AND` binds closer than `OR`, `WITH` closer than both. The old form `MIT/Apache-2.0` means `OR`.

use std::iter::Peekable;
use std::vec::IntoIter;

/// Whether `expression` can be satisfied with licences that are `allowed`.
///
/// A licence with an exception is passed as a whole: `Apache-2.0 WITH LLVM-exception`.
pub(super) fn is_satisfied(expression: &str, allowed: impl Fn(&str) -> bool) -> Result<bool, String> {
    let mut parser = Parser { words: words(expression).into_iter().peekable(), allowed };
    let satisfied = parser.any_of()?;
    match parser.words.next() {
        None => Ok(satisfied),
        Some(word) => Err(format!("`{word}` stands where `AND` or `OR` should")),
    }
}

/// Licences, operators and parentheses; `/` becomes `OR`.
fn words(expression: &str) -> Vec<String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

struct Parser<F> {
    words: Peekable<IntoIter<String>>,
    allowed: F,
}

impl<F: Fn(&str) -> bool> Parser<F> {
    fn any_of(&mut self) -> Result<bool, String> {
        let mut satisfied = self.all_of()?;
        while self.takes("OR") {
            satisfied |= self.all_of()?;
        }
        Ok(satisfied)
    }

    fn all_of(&mut self) -> Result<bool, String> {
        let mut satisfied = self.one()?;
        while self.takes("AND") {
            satisfied &= self.one()?;
        }
        Ok(satisfied)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.takes("(") {
            let satisfied = self.any_of()?;
            return if self.takes(")") { Ok(satisfied) } else { Err("a `)` is missing".to_owned()) };
        }
        let mut licence = self.name("a licence")?;
        if self.takes("WITH") {
            licence = format!("{licence} WITH {}", self.name("an exception")?);
        }
        Ok((self.allowed)(&licence))
    }

    fn name(&mut self, what: &str) -> Result<String, String> {
        let word = self.words.next().ok_or_else(|| format!("{what} is missing at the end"))?;
        let is_name = !["AND", "OR", "WITH", "(", ")"].iter().any(|other| word.eq_ignore_ascii_case(other));
        if is_name { Ok(word) } else { Err(format!("`{word}` stands where {what} should")) }
    }

    /// Whether the next word is `word`, which is then consumed.
    fn takes(&mut self, word: &str) -> bool {
        self.words.next_if(|next| next.eq_ignore_ascii_case(word)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::is_satisfied;

    /// Evaluates `expression` where `a`, `b`, `c` and `a WITH x` are allowed.
    #[track_caller]
    fn check(expression: &str, expected: bool) {
        let allowed = |licence: &str| ["a", "b", "c", "a WITH x"].contains(&licence);
        assert_eq!(is_satisfied(expression, allowed), Ok(expected), "{expression}");
    }

    #[track_caller]
    fn check_refused(expression: &str, expected: &str) {
        assert_eq!(is_satisfied(expression, |_| true), Err(expected.to_owned()), "{expression}");
    }

    #[test]
    fn one_licence_is_allowed_or_not() {
        check("a", true);
        check("z", false);
        check("(a)", true);
        check("a+", false);
    }

    #[test]
    fn one_of_two_is_enough_for_or() {
        check("a OR z", true);
        check("z OR a", true);
        check("z OR y", false);
        check("z or a", true);
    }

    #[test]
    fn both_are_needed_for_and() {
        check("a AND b", true);
        check("a AND z", false);
        check("z AND a", false);
    }

    #[test]
    fn and_binds_closer_than_or() {
        check("a OR z AND y", true);
        check("z AND y OR a", true);
        check("(a OR z) AND y", false);
        check("(z OR a) AND (b OR y)", true);
        check("((z AND a) OR (b AND c))", true);
    }

    #[test]
    fn an_exception_belongs_to_its_licence() {
        check("a WITH x", true);
        check("a WITH y", false);
        check("b WITH x", false);
        check("z OR a WITH x", true);
        check("a WITH x AND z", false);
    }

    #[test]
    fn the_old_form_means_or() {
        check("a/z", true);
        check("z / a", true);
        check("z/y", false);
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        check_refused("", "a licence is missing at the end");
        check_refused("a OR", "a licence is missing at the end");
        check_refused("OR a", "`OR` stands where a licence should");
        check_refused("a b", "`b` stands where `AND` or `OR` should");
        check_refused("(a OR b", "a `)` is missing");
        check_refused("a)", "`)` stands where `AND` or `OR` should");
        check_refused("a WITH", "an exception is missing at the end");
        check_refused("a OR ()", "`)` stands where a licence should");
    }
}
