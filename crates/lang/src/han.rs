//! Japanese or Chinese without kana: by characters that only one of the two uses.

use std::sync::LazyLock;

/// Forms that Japan simplified in its own way, or created.
const JAPANESE: &str = "々円気図対発売県駅広営込働畑峠辺沢浜桜渋栄実帰済験経続転戦団労収楽薬検権児様関単変読択拝\
    応仮価画覚巻観顔拡鉱剤歳雑賛残歯処縄譲嬢奨畳浄醸粋勢摂銭専繊蔵贈臓滝担弾遅鋳聴徴鎮塚庁逓鉄伝糖頭闘徳悩\
    脳覇拝廃髪抜蛮秘浜賓払仏併塀弁舗褒訳与誉予揺謡来頼覧竜両塁励齢恋炉録";
/// Forms of the People's Republic, and traditional forms that Japan no longer uses.
const CHINESE: &str = "们这个为时间问题说话对发经现长门见车东业产开关后从来让给没还过进运动实际华语书习应该认识\
    們這個為說對發會經現樂藥廣圖氣讓總戰團國學體數區權關變點雙歸觀裡嗎呢吧吗你妳她您哪啊么麼";

/// The sorted characters above, each with 1 for Japanese and -1 for Chinese; characters in both lists are left out.
static MARKS: LazyLock<Vec<(char, i64)>> = LazyLock::new(|| {
    let japanese = JAPANESE.chars().filter(|c| !CHINESE.contains(*c)).map(|c| (c, 1));
    let chinese = CHINESE.chars().filter(|c| !JAPANESE.contains(*c)).map(|c| (c, -1));
    let mut marks: Vec<_> = japanese.chain(chinese).collect();
    marks.sort_unstable();
    marks.dedup();
    marks
});

/// Positive if a text looks Japanese, negative if it looks Chinese, 0 if undecided.
pub(crate) fn lean(text: &str) -> i64 {
    let mark = |c: char| {
        let place = MARKS.binary_search_by_key(&c, |(known, _)| *known).ok()?;
        MARKS.get(place).map(|(_, side)| *side)
    };
    text.chars().filter(|c| *c >= '\u{3005}').filter_map(mark).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_tell_the_country() {
        assert!(lean("県立図書館営業時間変更") > 0);
        assert!(lean("我们这个图书馆开门的时间") < 0);
        assert!(lean("我們的圖書館開門時間變了") < 0);
        assert_eq!(lean("東京大阪"), 0);
    }
}
