//! Where sentences end, by hand: `‖` stands at every end within a text.

use lang::Language;

/// Cuts the text without its marks and compares the pieces.
#[track_caller]
fn cuts(language: Language, marked: &str) -> Option<String> {
    let text = marked.replace('‖', "");
    let expected: Vec<&str> = marked.split('‖').map(str::trim).filter(|piece| !piece.is_empty()).collect();
    let found: Vec<&str> =
        lang::sentences(&text, Some(language)).into_iter().map(|range| &text[range]).collect();
    (found != expected).then(|| format!("\n  expected {expected:?}\n  found    {found:?}"))
}

#[track_caller]
fn check(language: Language, cases: &[&str]) {
    let wrong: Vec<String> = cases.iter().filter_map(|case| cuts(language, case)).collect();
    assert!(wrong.is_empty(), "{} of {} are wrong:{}", wrong.len(), cases.len(), wrong.concat());
}

#[test]
fn stops_and_marks_end_sentences() {
    check(
        Language::JAPANESE,
        &[
            "図書館は九時に開く。‖閉まるのは六時だ。",
            "図書館は九時に開く。",
            "句点のない文",
            "本当ですか？‖はい、本当です。",
            "すごい！‖これは便利。",
            "ええっ！？‖そんなはずは。",
            "なんと！！！‖当選しました！！",
            "え、まじで？？？‖うそでしょ。",
            "すごい!!‖次も買います。",
            "よろしいですか?‖はい。",
            "これで終わり。。。‖また明日。",
            "そうか…。‖わかった。",
            "まさか……！‖本当だった。",
            "ﾊﾝｶｸの句点です｡‖次の文です｡",
            "本日は休業です．‖明日は営業します．",
            "半角です.‖次の文です.",
            "コンマとピリオドで書く，論文の文体である．‖次の文である．",
            "終わりました。 ‖次に進みます。",
            "終わりました。　‖次に進みます。",
            "これは何！？‖すごい‼‖本当⁉",
        ],
    );
}

#[test]
fn quotations_do_not_end_the_sentence_around_them() {
    check(
        Language::JAPANESE,
        &[
            "彼は「行こう。」と言った。‖私は頷いた。",
            "「本当？」と聞くと、「本当。」と答えた。",
            "「もう帰る。また来る。」と言い残した。",
            "彼女は『はい！』って叫んだ。",
            "「待って！」の声がした。",
            "「まさか。」という顔をした。",
            "「おはよう。」‖「おはようございます。」",
            "「行くの？」‖「うん、行く。」‖「そう。」",
            "「寒いね。」‖彼は空を見上げた。",
            "「寒いね。」\n‖彼は空を見上げた。",
            "「ありがとう」‖\n「どういたしまして」",
            "「これでいい。」‖そして彼は去った。",
            "標語は「安全第一。」である。",
            "合言葉は「山！」「川！」だ。",
            "『吾輩は猫である。』は名作だ。",
            "社長は“勝つ。それだけだ。”と語った。",
            "（詳しくは後で述べる。）‖次に進む。",
            "結果は良好である（表１を見よ。図２も。）。‖考察に移る。",
            "会社（東京都。本社は港区。）を訪ねた。",
            "規則（第三条！）に従う。",
            "「閉じない引用。‖次の文は切れる。",
            "閉じだけ」がある。‖次の文。",
            "〈注意！〉を読むこと。‖以上。",
            "【重要。】お知らせがあります。‖ご覧ください。",
            "母は「『早く寝なさい。』と父が言った。」と話した。",
            "「そうですか」。‖彼は黙った。",
            "「行きます」！‖元気な声だった。",
            "「はい。」、と彼は言った。",
            "「うん。」 と頷いた。",
            "名言「ペンは剣よりも強し。」を引く。",
            "彼の口癖は「なんとかなる！」。‖本当になんとかなった。",
        ],
    );
}

#[test]
fn sentences_go_on_after_marks_that_particles_follow() {
    check(
        Language::JAPANESE,
        &[
            "本当か？と思った。‖違った。",
            "これだ！というものがない。",
            "やった！って感じ。",
            "Yahoo!ニュースで読んだ。",
            "Yahoo! JAPANのサービスです。",
            "モーニング娘。のコンサートに行った。",
            "モーニング娘。が来た。‖楽しかった。",
            "けいおん！を見た。",
            "え？はこちらの台詞だ。",
            "何？、と聞き返した。",
            "今が旬！の野菜を食べる。",
            "どうする？という話になった。",
        ],
    );
    check(
        Language::JAPANESE,
        &[
            "すごい！‖はい、すごいです。",
            "終わった？‖もう寝よう。",
            "できた！‖でも遅い。",
            "ほんと？‖やっぱりね。",
            "行く？‖もちろん行く。",
            "買った！‖ところが壊れた。",
            "なぜ？‖とにかく急げ。",
            "楽しい！‖では次です。",
            "安い。‖というわけで買いました。",
            "来た！‖がんばれ。",
        ],
    );
}

#[test]
fn laughter_faces_and_emoji_cling_to_their_sentence() {
    check(
        Language::JAPANESE,
        &[
            "また失敗した(笑)‖次は頑張る。",
            "また失敗しました（笑）。‖次は頑張る。",
            "また失敗した。(笑)‖次は頑張る。",
            "また失敗した(笑)",
            "専門家(笑)が言うには安全だそうだ。",
            "自称天才（笑）です。",
            "楽しかったです(^^)‖また行きたいです(^_^)/",
            "すみません(>_<)‖寝坊しました。",
            "よろしくお願いします m(_ _)m",
            "ありがとう♪‖また来てね♪",
            "きれいな花です☆‖見に来てください★",
            "うれしい♡‖大好き♡",
            "すごいｗｗｗ‖笑いが止まらない。",
            "まじかよwww‖やばい。",
            "おいしかった😀‖また行く！",
            "楽しみです😊✨‖\n明日です。",
            "寒い(泣)‖風邪をひいた。",
            "疲れたー(´Д｀)‖もう寝る。",
            "やったー！(^o^)‖合格です。",
            "ですよね～♪‖わかります。",
            "😀の絵文字を使う。",
            "♪マークを押す。",
            "★5つの評価です。",
            "これは…ちょっと困る。",
            "そうですか… ‖でも大丈夫。",
            "うーん…‖\nどうしよう。",
            "しかし‥何もない。",
            "ですね笑 ‖また今度。",
            "wikiで調べた。",
            "すごい！w‖また見る。",
        ],
    );
}

#[test]
fn addresses_numbers_and_names_are_not_cut() {
    check(
        Language::JAPANESE,
        &[
            "詳細はhttp://example.org/?a=b&c=d!を参照。‖以上。",
            "詳しくは https://example.org/a.html をご覧ください。‖お待ちします。",
            "www.example.co.jpで検索。",
            "円周率は3.14です。‖正確ではない。",
            "円周率は３．１４です。‖正確ではない。",
            "バージョン1.2.3を公開。‖更新してください。",
            "設定はconfig.tomlに書く。‖次に起動する。",
            "J.S.バッハの曲を聴く。",
            "U.S. Navyの船。",
            "メールはinfo@example.jpまで。‖返信は翌日です。",
            "Node.jsとVue.jsを使う。",
            "第1.5節を読む。",
            "No.1の実績です。‖ぜひどうぞ。",
            "Windows 8.1 で動作します。‖お試しください。",
            "午前10時～午後5時。‖土日休み。",
            "価格は1,000円(税込)。‖送料無料！",
            "A.次の通りです。‖B.違います。",
            "Q. なぜですか？‖A. 安いからです。",
            "1. 電源を入れる。‖\n2. 待つ。",
            "１．はじめに‖\n２．目的",
            "GTK+とQt!を比べる。",
            "C++やC#で書く。",
            "a?b:cの形で書く。",
            "This is a pen. ‖これはペンです。",
            "It works. ‖Yes, it works. ‖動きます。",
        ],
    );
}

#[test]
fn lines_end_sentences_unless_they_were_broken() {
    check(
        Language::JAPANESE,
        &[
            "見出し‖\n本文が続きます。",
            "ホーム‖\n会社案内‖\nお問い合わせ",
            "・りんご‖\n・みかん‖\n・ぶどう",
            "● 開館時間 9時‖\n● 休館日 月曜",
            "①準備する‖\n②始める‖\n③片付ける",
            "1. 準備‖\n2. 開始",
            "(1) 目的‖\n(2) 方法",
            "（１）目的‖\n（２）方法",
            "※送料は別です‖\n※返品はできません",
            "- 一つ目‖\n- 二つ目",
            "* 一つ目‖\n* 二つ目",
            "改行の途中で、\n文が続く。",
            "文の途中で\n改行している文です。",
            "次の行は\n助詞のあとで続きます。‖\nこれは別の文です。",
            "この文は横幅に合わせて改行されているので、行の終わ\nりに句点がなくても次の行に続いていると判断しなければ\nならない。‖次の文もある。",
            "吾輩は猫である。‖名前はまだ無い。‖どこで生れたかとんと見\n当がつかぬ。‖何でも薄暗いじめじめした所でニャーニャー\n泣いていた事だけは記憶している。",
            "一段落目の文です‖\n\n二段落目の文です",
            "政府が新しい経済対策を閣議決定‖\n大雨で各地に被害、交通に乱れ‖\n新しい駅が来春に開業",
            "「長い引用の途中で\n改行する。」と書いた。",
            "「一行目。\n二行目。」と歌う。",
            "（注の中で\n改行する）文もある。",
            "住所：東京都港区‖\n電話：03-0000-0000",
            "名前‖\t年齢‖\t住所",
            "品名 | 価格 | 数量‖\nりんご | 100円 | 3",
            "作成者：山田‖\n更新日：2020年1月1日",
            "終わり。‖\r\n始まり。‖\r\n",
            "今日は晴れ‖\n明日は雨‖\n明後日は曇り",
            "お知らせ‖\n当館は改修のため休館いたします。‖",
            "第1章 はじめに‖\n本書は入門書です。",
            "続きを読む‖\n>> 次のページ",
            "以下の通り：‖\n・甲‖\n・乙",
            "行頭が読点\n、で始まる文。",
            "英語 English の\n混ざった文です。",
            "楽しかったです‖\nまた行きたいです‖\nありがとうございました",
            "今日のごはんはカレーでした‖\nおいしかったです‖\n\n明日はうどんです",
        ],
    );
}

#[test]
fn western_sentences_keep_their_abbreviations() {
    check(
        Language::ENGLISH,
        &[
            "The library opens at nine. ‖It closes at six.",
            "Mr. Smith came. ‖He left.",
            "Dr. A. B. Jones wrote it. ‖We read it.",
            "See Fig. 3 for details. ‖It is clear.",
            "Use tools, e.g. Vim or Emacs. ‖They work.",
            "That is, i.e. Monday. ‖Then rest.",
            "The U.S. Army came. ‖It left.",
            "She lives in the U.S. ‖It is far away.",
            "Version 1.2.3 is out. ‖Update now.",
            "What? ‖No! ‖Yes.",
            "\"Stop!\" ‖He ran.",
            "He said \"stop.\" ‖Then he ran.",
            "It costs 3.50 dollars. ‖Buy it.",
            "Visit https://example.org/a.b?c=d. ‖Then write.",
            "Wait... ‖What?",
            "wait... what?",
            "1. First item‖\n2. Second item",
            "- one‖\n- two",
            "The quick brown fox jumps over the lazy\ndog and runs away from it.",
            "This line was wrapped at forty columns or\nSo it seems, and it goes on to the end.",
            "Heading‖\nThe text begins here.",
            "Prof. Meier and St. Gallen. ‖End.",
            "Vol. 2, No. 5, pp. 10 to 12. ‖End.",
            "He works at Acme Inc. and likes it. ‖Good.",
            "(See the note.) ‖It helps.",
            "J. R. R. Tolkien wrote it. ‖It is long.",
            "Born on Jan. 5 in Rome. ‖Died in Oslo.",
            "First paragraph\n‖\nSecond paragraph",
            "Home‖\nAbout us‖\nContact",
            "Is it so?! ‖Indeed.",
            "Smith et al. found it. ‖We did too.",
        ],
    );
    check(
        Language::parse("de").unwrap(),
        &["Das ist z.B. Wein. ‖Er schmeckt.", "Dr. Müller kommt. ‖Er bleibt.", "Siehe Nr. 5 dazu. ‖Ende."],
    );
    check(
        Language::parse("fr").unwrap(),
        &["M. Dupont arrive. ‖Il part.", "Est-ce vrai ? ‖Oui.", "C’est la fin ! ‖Au revoir."],
    );
    check(
        Language::CHINESE,
        &["图书馆九点开门。‖六点关门。", "他说：“走吧。”‖我们走了。", "真的吗？‖是的！"],
    );
}

#[test]
fn hostile_text_is_cut_in_order() {
    for unit in [
        "。",
        "「",
        "（",
        "a.",
        "A. ",
        "w",
        "\n",
        "あ\n",
        "(^",
        "！は",
        " ",
        "「。」",
        "http://",
        "\t",
        "1.",
        "…",
    ] {
        let text = unit.repeat(20_000);
        for language in [Language::JAPANESE, Language::ENGLISH] {
            let sentences = lang::sentences(&text, Some(language));
            assert!(sentences.windows(2).all(|pair| pair[0].end <= pair[1].start), "{unit:?}");
        }
    }
}
