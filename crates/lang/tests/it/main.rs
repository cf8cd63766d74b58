//! Sentences in many languages, and the simulated web's own texts.

mod edited;
mod quantities;
mod sentences;

use lang::{Language, detect};
use sim::text::{self, TextLanguage as Tongue};

#[track_caller]
fn check(code: &str, text: &str) {
    assert_eq!(detect(text, None).map(|found| found.to_string()).as_deref(), Some(code), "{text}");
}

#[test]
fn sentences_of_twenty_six_languages_are_told() {
    check("ja", "公共図書館は朝の九時に開き、夕方の六時に閉まります。");
    check("ja", "ニュース一覧　トップページへ戻る");
    check("zh", "我们的图书馆每天早上九点开门，晚上六点关门。");
    check("zh", "我們的圖書館每天早上九點開門，晚上六點關門。");
    check("ko", "도서관은 매일 아침 아홉 시에 문을 열고 저녁 여섯 시에 닫습니다.");
    check("en", "The public library opens at nine in the morning and closes at six in the evening.");
    check("de", "Die öffentliche Bibliothek öffnet morgens um neun und schließt abends um sechs Uhr.");
    check("fr", "La bibliothèque municipale ouvre à neuf heures du matin et ferme à dix-huit heures.");
    check("es", "La biblioteca pública abre a las nueve de la mañana y cierra a las seis de la tarde.");
    check(
        "pt",
        "A biblioteca pública abre às nove da manhã e fecha às seis da tarde, todos os dias não feriados.",
    );
    check("it", "La biblioteca comunale apre alle nove del mattino e chiude alle sei della sera.");
    check("nl", "De openbare bibliotheek gaat om negen uur 's ochtends open en sluit om zes uur 's avonds.");
    check(
        "sv",
        "Det offentliga biblioteket öppnar klockan nio på morgonen och stänger klockan sex på kvällen.",
    );
    check("tr", "Halk kütüphanesi sabah saat dokuzda açılır ve akşam saat altıda kapanır.");
    check("vi", "Thư viện công cộng mở cửa lúc chín giờ sáng và đóng cửa lúc sáu giờ tối.");
    check("ru", "Городская библиотека открывается в девять часов утра и закрывается в шесть вечера.");
    check("uk", "Міська бібліотека відчиняється о дев'ятій ранку і зачиняється о шостій вечора, є їдальня.");
    check("bg", "Градската библиотека отваря в девет сутринта и затваря в шест вечерта, къщата е до нея.");
    check("el", "Η δημόσια βιβλιοθήκη ανοίγει στις εννέα το πρωί και κλείνει στις έξι το απόγευμα.");
    check("he", "הספרייה הציבורית נפתחת בתשע בבוקר ונסגרת בשש בערב.");
    check("ar", "تفتح المكتبة العامة في الساعة التاسعة صباحا وتغلق في السادسة مساء.");
    check("fa", "کتابخانه عمومی ساعت نه صبح باز می‌شود و ساعت شش عصر بسته می‌شود، چون پنجشنبه است و گرم.");
    check("hi", "सार्वजनिक पुस्तकालय सुबह नौ बजे खुलता है और शाम छह बजे बंद होता है।");
    check("th", "ห้องสมุดประชาชนเปิดเวลาเก้าโมงเช้าและปิดเวลาหกโมงเย็น");
    check("ka", "საჯარო ბიბლიოთეკა იხსნება დილის ცხრა საათზე და იკეტება საღამოს ექვსზე.");
    check("ta", "பொது நூலகம் காலை ஒன்பது மணிக்குத் திறந்து மாலை ஆறு மணிக்கு மூடப்படும்.");
}

#[test]
fn a_claim_decides_where_the_text_does_not() {
    let japanese = Some(Language::JAPANESE);
    let address = "東京都千代田区永田町一丁目七番一号";
    for hint in ["ja", "JA-jp", "Shift_JIS", "EUC-JP", "iso-2022-jp"] {
        assert_eq!(detect(address, Some(hint)), japanese, "{hint}");
    }
    assert_eq!(detect(address, Some("zh-TW")), Some(Language::CHINESE));
    assert_eq!(detect(address, Some("nonsense")), Some(Language::CHINESE));
    assert_eq!(detect("県立図書館営業時間変更 駅前広場発売", None), japanese);
    let chinese = "我们的图书馆每天早上九点开门，晚上六点关门。";
    assert_eq!(detect(chinese, Some("ja")), Some(Language::CHINESE), "a wrong claim does not count");
    let polish =
        "Biblioteka publiczna jest otwarta od dziewiątej rano do szóstej wieczorem, prócz niedziel i świąt.";
    assert_eq!(detect(polish, Some("pl")), Language::parse("pl"));
    let english =
        "The public library opens at nine in the morning and closes at six in the evening. Come and see us.";
    assert_eq!(detect(english, Some("ja")), Some(Language::ENGLISH));
    assert_eq!(detect(english, Some("de")), Some(Language::ENGLISH));
}

#[test]
fn of_too_little_text_nothing_is_said() {
    for text in ["", "404", "1,234.56 — 2026/03/31", "Home", "図書館", "☆★☆★☆★☆★☆★☆★☆★"]
    {
        assert_eq!(detect(text, Some("ja")), None, "{text}");
    }
}

#[test]
fn every_text_of_the_simulated_web_is_told() {
    for (tongue, language) in [(Tongue::Japanese, Language::JAPANESE), (Tongue::English, Language::ENGLISH)] {
        for seed in 0..500 {
            let mut paragraph = String::new();
            text::paragraph(&mut paragraph, tongue, seed << 8, 3);
            assert_eq!(detect(&paragraph, None), Some(language), "{paragraph}");
        }
    }
}

#[test]
fn any_text_is_read() {
    let mut chance = base::Chance::new(9);
    for _ in 0..2_000 {
        let bytes: Vec<u8> = (0..chance.index(3_000)).map(|_| (chance.bits() >> 56) as u8).collect();
        let _ = detect(&String::from_utf8_lossy(&bytes), Some("ja"));
        let length = chance.index(300);
        let wild: String = (0..length)
            .filter_map(|_| char::from_u32(u32::try_from(chance.below(0x11_0000)).unwrap()))
            .collect();
        let _ = detect(&wild, None);
    }
    assert_eq!(detect(&"あ".repeat(1 << 20), None), Some(Language::JAPANESE));
}
