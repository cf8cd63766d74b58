//! English: the sentences that serve every topic, and the names. A line begins in lower case; rendering capitalizes it.

mod topics;

use super::{Line, Tongue};

/// Lines that end in one way only: English has no polite ending.
macro_rules! lines {
    ($($line:literal),* $(,)?) => { &[$(($line, "", "")),*] };
}
use lines;

// Rows of words, without commas so that they stay rows.
macro_rules! words {
    ($($word:literal)*) => { &[$($word),*] };
}

pub(super) static TONGUE: Tongue = Tongue {
    topics: &topics::TOPICS,
    openers: OPENERS,
    bodies: BODIES,
    followers: FOLLOWERS,
    closers: CLOSERS,
    links: &["in addition, ", "at the same time, ", "moreover, ", "besides, ", "furthermore, "],
    gap: " ",
    titles: TITLES,
    site_names: SITE_NAMES,
    adverts: ADVERTS,
    places: [PLACE_HEADS, PLACE_TAILS],
    families: FAMILIES,
    givens: GIVENS,
    audiences: words![
        "children" "young families" "older residents" "beginners" "students" "visitors" "neighbours"
        "teenagers" "parents" "newcomers" "volunteers" "tourists"
    ],
    past: words![
        "last spring" "last week" "last month" "earlier this year" "two years ago" "last autumn"
        "this summer" "last winter" "a few days ago" "on a rainy weekend"
    ],
    future: words![
        "next month" "next spring" "next week" "later this year" "next year" "this winter"
        "after the holidays" "in the coming season"
    ],
    feelings: words![
        "harder" "easier" "more rewarding" "more fun" "slower" "more demanding" "simpler" "cheaper"
    ],
    weekdays: ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    months: [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
    few: ["two", "three", "four", "five", "six", "seven", "eight", "nine"],
    sections: [
        ("news", "News"),
        ("blog", "Blog"),
        ("library", "Library"),
        ("recipes", "Recipes"),
        ("travel", "Travel"),
        ("events", "Events"),
        ("history", "History"),
        ("research", "Research"),
        ("town", "Our town"),
        ("faq", "Questions and answers"),
        ("products", "Products"),
        ("reviews", "Reviews"),
    ],
};

const OPENERS: &[Line] = lines![
    "the $p $g $3 $a $t at the $s $w.",
    "$@ $e was held at the $p $s on $m $d.",
    "in $p, more and more $o have begun to $1 $a $t.",
    "$i $h, $@ $k from $p, has $5 $t for $n years.",
    "since $y, the $p $g has $5 $t at the $s.",
    "anyone who has been to the $s in $p will remember the $t.",
    "$f, the $p $g will $1 $t at the $s.",
    "this page is about the $t of $p and the people who $1 them.",
    "when you $1 $@ $a $T, the first thing to think about is $x.",
    "many $o in $p have taken a new interest in $t.",
    "few places are as closely tied to $t as $p.",
    "the $e in $p drew $N people $w, and most of them asked about the $t.",
    "what is the best way to $1 $@ $a $T?",
    "the $g of $p and the $g of $q have agreed to $1 $t together.",
    "a new study from the $p $g looks at $x and at the people who $1 $t.",
    "on the afternoon of $m $d, about $N people came to the $s in $p.",
    "in the world of $l, people often say that $x comes first.",
    "$i $h came to $p in $y and has hardly missed $@ $e since.",
    "after $i $h moved to $p in $y, it did not take long before $o came to the $s to see how the $t were $5.",
    "for the people of $p, $t are a part of daily life, and hardly a day goes by without talk of $x.",
    "although $x is a constant worry, the $p $g has managed to $1 $t in every season since $y.",
];

const BODIES: &[Line] = lines![
    "the $g has kept records of $x since $y.",
    "$i $h says that $4 $t is $j than most people expect.",
    "$t and $u differ most of all in the matter of $x.",
    "about $c percent of the members say that they $1 $t every year.",
    "the $s can be reached by bus in $M minutes from the station in $q.",
    "before you $1 $@ $T, it is wise to think about $x.",
    "guests at the $e can also $1 $u.",
    "beginners can $1 $@ $T with the help of $@ $k.",
    "the fee is $n dollars, and places can be booked until $m $d.",
    "people with questions about $x are welcome to ask the $g.",
    "many of those who $1 $t also $1 $u.",
    "according to $h, $x changes a great deal from place to place.",
    "the $g has $L members and meets every $W at the $s.",
    "a crowd of $N watched as the $k $3 $@ $a $T.",
    "the photographs of the $t were taken in $p $w.",
    "the $a $T in the picture was $5 $w.",
    "some $o prefer $u, but $t are just as popular.",
    "$4 $t takes patience, and $x matters more than speed.",
    "the $k showed $o how to $1 $t and answered questions about $x.",
    "a booklet on $x was printed in $N copies and is free for $o.",
    "most $o come to the $s on $W, when the $k is there to help.",
    "the $k, who has $5 $t since $y, keeps a notebook in which $x is written down every $W.",
    "more than $N people wrote to the $g last year, and most of their questions were about $x.",
    "compared with $u, $t take about $c percent less time, and most $o need only $n tries.",
    "pictures of $L $t hang at the entrance of the $s, where $o often stop to look at them.",
    "in the morning the group met at the $s to $1 $t, and in the afternoon it went on to $q.",
    "when the $g asked $o about it, $c percent said that they had $5 $@ $T at least once.",
    "the idea came from $q in $y and spread to $p within $n years.",
    "the number of people who $1 $t has grown, and according to the $k this has much to do with $x.",
    "it took $n years and a good deal of luck before the $g $3 its first $T.",
];

/// Lines that carry their own connective and so need a sentence before them.
const FOLLOWERS: &[Line] = lines![
    "as a result, the number of visitors to the $s rose by $c percent.",
    "for this reason, the $g plans to $1 more $t $f.",
    "however, $x remains a problem.",
    "in $q, by contrast, people prefer to $1 $u.",
    "for example, anyone who $2 $@ $a $T needs to watch $x closely.",
    "even so, $h still $2 $t whenever there is time.",
    "in other words, $x is the key to $4 $t well.",
    "that is why the $g decided to hold $@ $e for $o.",
    "in particular, $a $t have caught the eye of $o.",
    "meanwhile, the $g in $q has started to $1 $u as well.",
    "on the other hand, $x alone does not settle the matter.",
    "therefore, the $e was moved to $m $d.",
    "still, fewer people $1 $t today than in $y.",
];

const CLOSERS: &[Line] = lines![
    "the next $e will be held in $p on $m $d.",
    "for details, please contact the $g.",
    "$i $h hopes to go on $4 $t for many years.",
    "the $g will report again on $x $f.",
    "the $g hopes that more $o will learn to $1 $t.",
    "more news about the $t can be found at the $s.",
    "whatever happens next, $p will keep its $t.",
    "the story of the $a $T is not over yet.",
    "at the end of the day, members and $o alike went home happy.",
];

const TITLES: &[&str] = &[
    "how to $1 $@ $a $T in $p",
    "$a $t of $p: notes on $x",
    "$n ways to $1 $@ $a $T in $p",
    "$e in $p on $m $d: $t and $u",
    "meet $i $h, the $k who $2 $t",
    "$4 $t at the $s in $p",
    "why $o in $p have begun to $1 $t",
    "$x and the $a $T of $p",
    "report of the $p $g, $m $y",
    "$t or $u in $p: a question of $x",
    "the $a $T of $p",
    "$@ $l diary from $p, $m $d",
    "$y, the year $p $3 its first $T",
    "$i $h, $k, on $4 $t",
    "$p $g: $t for $o",
    "from $q to $p with $@ $a $T",
    "$N visitors at the $p $e ask about $a $t",
    "a short guide to $x for people in $p who $1 $a $t",
    "questions about $t answered by the $p $g",
    "what $p can teach us about $x and $t",
];

const SITE_NAMES: &[&str] = &[
    "the $p $l page",
    "$p $g",
    "$i $h on $l",
    "the $a $T",
    "$p weekly news",
    "$t and $u",
    "$h and daughters, $p",
    "the $p $l journal",
    "$l notes by $i $h",
    "visit $p",
    "the $s of $p",
    "$p web library",
    "all about $t",
    "$h and company",
];

const ADVERTS: &[&str] = &[
    "save $c percent on books about $t this week.",
    "join us for the $e in $p on $m $d.",
    "want to $1 $@ $a $T? Ask for our free guide.",
    "$a $t in pictures: a calendar loved by $o everywhere.",
    "learn about $l from $@ $k: new course starts on $m $d.",
    "free delivery for $n days only. Order now.",
    "everything for $l, from $t to $u, at $h and company in $p.",
    "is $x on your mind? Our experts can help.",
    "double points every $W at $h and company in $p.",
    "more than $N thousand readers trust our advice on $t.",
];

/// Invented towns are a head and a tail.
const PLACE_HEADS: &[&str] = words![
    "Alder" "Amber" "Birch" "Bracken" "Clover" "Copper" "Dapple" "Ember" "Fallow" "Fern" "Gorse" "Hazel"
    "Heron" "Ivory" "Juniper" "Kestrel" "Larch" "Linden" "Marrow" "Nettle" "Otter" "Pepper" "Quill" "Raven"
    "Rowan" "Saffron" "Sorrel" "Teasel" "Thistle" "Umber" "Velvet" "Willow" "Winter" "Yarrow"
];

const PLACE_TAILS: &[&str] = words![
    "bridge" "brook" "combe" "dale" "fell" "field" "ford" "gate" "haven" "hollow" "holt" "mere" "moor"
    "shore" "stead" "wick"
];

const FAMILIES: &[&str] = words![
    "Abbott" "Baker" "Barnes" "Bell" "Carter" "Chapman" "Cole" "Cooper" "Dawson" "Dean" "Ellis" "Fisher"
    "Foster" "Gardner" "Gibson" "Grant" "Hale" "Harper" "Hughes" "Hunt" "Ingram" "Jarvis" "Kerr" "Knight"
    "Lane" "Lowe" "Marsh" "Mason" "Morgan" "Nash" "Norton" "Owen" "Page" "Palmer" "Perry" "Quinn" "Reed"
    "Rhodes" "Sharp" "Shaw" "Stone" "Sutton" "Tanaka" "Thorne" "Turner" "Wade" "Walsh" "Webb" "Wells"
    "Young"
];

const GIVENS: &[&str] = words![
    "Alice" "Amir" "Anna" "Ben" "Clara" "Daniel" "Diana" "Edith" "Emma" "Frank" "Grace" "Hana" "Henry"
    "Irene" "Ivan" "Jack" "Jane" "Kenji" "Laura" "Leo" "Lucy" "Maria" "Martin" "Mina" "Nora" "Oscar" "Paul"
    "Peter" "Priya" "Rosa" "Ruth" "Samuel" "Sofia" "Thomas" "Vera" "Victor" "Wendy" "Yuki"
];
