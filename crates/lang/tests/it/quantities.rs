//! Numbers and dates, by hand.

use lang::QuantityValue::{Date, Number};

/// Each quantity as its text, `=` and its value.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let found = lang::quantities(text).into_iter().map(|found| {
        let value = match found.value {
            Number { number, counter } => format!("{number}{counter}"),
            Date { year, month, day } => {
                let part = |part: Option<u8>| part.map_or("-".to_owned(), |part| part.to_string());
                format!(
                    "{}/{}/{}",
                    year.map_or("-".to_owned(), |year| year.to_string()),
                    part(month),
                    part(day)
                )
            }
        };
        format!("{}={value}", &text[found.span])
    });
    assert_eq!(found.collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn numbers_are_read_in_every_writing() {
    check("123個", &["123個=123個"]);
    check("１２３個", &["１２３個=123個"]);
    check("1,234円", &["1,234円=1234円"]);
    check("１，２３４円", &["１，２３４円=1234円"]);
    check("3.14倍", &["3.14倍=3.14倍"]);
    check("三千五百人", &["三千五百人=3500人"]);
    check("十二人", &["十二人=12人"]);
    check("百円と千円", &["百円=100円", "千円=1000円"]);
    check("二〇二四年間", &["二〇二四年間=2024年間"]);
    check("2億3千万円", &["2億3千万円=230000000円"]);
    check("一億二千万人", &["一億二千万人=120000000人"]);
    check("3万5000人", &["3万5000人=35000人"]);
    check("1.5億円", &["1.5億円=150000000円"]);
    check("50%と５０％", &["50%=50%", "５０％=50％"]);
    check("10km走る", &["10km=10km"]);
    check("5mmと5m", &["5mm=5mm", "5m=5m"]);
    check("1,2,3", &["1=1", "2=2", "3=3"]);
    check("1,2345", &["1=1", "2345=2345"]);
    check("20世紀の3か月", &["20世紀=20世紀", "3か月=3か月"]);
    check("一番と第一章", &["一番=1番", "一章=1章"]);
    check("一般に一度", &["一度=1度"]);
    check("abc123", &[]);
    check("万が一", &[]);
    check("図書館", &[]);
    check("3 apples", &["3=3"]);
    check("", &[]);
}

#[test]
fn dates_are_read_in_every_writing() {
    check("2024年5月3日", &["2024年5月3日=2024/5/3"]);
    check("２０２４年５月３日", &["２０２４年５月３日=2024/5/3"]);
    check("二〇二四年五月三日", &["二〇二四年五月三日=2024/5/3"]);
    check("2024年5月", &["2024年5月=2024/5/-"]);
    check("1999年に", &["1999年=1999/-/-"]);
    check("5月3日", &["5月3日=-/5/3"]);
    check("十二月二十五日", &["十二月二十五日=-/12/25"]);
    check("令和6年5月3日", &["令和6年5月3日=2024/5/3"]);
    check("令和元年", &["令和元年=2019/-/-"]);
    check("平成三十一年四月三十日", &["平成三十一年四月三十日=2019/4/30"]);
    check("昭和64年1月7日", &["昭和64年1月7日=1989/1/7"]);
    check("㍻２年", &["㍻２年=1990/-/-"]);
    check("R6.5.3", &["R6.5.3=2024/5/3"]);
    check("2024-05-03", &["2024-05-03=2024/5/3"]);
    check("2024/5/3", &["2024/5/3=2024/5/3"]);
    check("2024.05.03更新", &["2024.05.03=2024/5/3"]);
    check("2024-13-03", &["2024=2024", "13=13", "03=3"]);
    check("3年間で5日", &["3年間=3年間", "5日=5日"]);
    check("平成99年", &["99年=99年"]);
    check("明治45年", &["明治45年=1912/-/-"]);
    check("3か月と3月", &["3か月=3か月", "3月=3月"]);
}

#[test]
fn hostile_numbers_are_read_in_order() {
    for unit in ["1", "一", "千", "1,", "1.", "万", "令和", "1万", "年", "5月"] {
        assert!(!lang::quantities(&unit.repeat(20_000)).iter().any(|found| found.span.is_empty()));
    }
}
