//! What an English paragraph can be about.

use super::super::{Topic, Word};
use super::lines;

/// A noun, its plural by rule: boxes, strawberries, roses.
const fn noun(word: &'static str) -> Word {
    let (stem, last, before) = ends(word);
    match (before, last) {
        (_, b's' | b'x' | b'z') | (b'c' | b's', b'h') => Word(word, &["", "es", "", "", ""]),
        (b'a' | b'e' | b'o' | b'u', b'y') => Word(word, &["", "s", "", "", ""]),
        (_, b'y') => Word(stem, &["y", "ies", "", "", ""]),
        _ => Word(word, &["", "s", "", "", ""]),
    }
}

/// A regular verb: watches, shared, carrying. Those that double a letter are written out, as are the irregular.
const fn verb(word: &'static str) -> Word {
    let (stem, last, before) = ends(word);
    match (before, last) {
        (_, b's' | b'x' | b'z') | (b'c' | b's', b'h') => Word(word, &["", "es", "ed", "ing", "ed"]),
        (b'a' | b'e' | b'o' | b'u', b'y') => Word(word, &["", "s", "ed", "ing", "ed"]),
        (_, b'y') => Word(stem, &["y", "ies", "ied", "ying", "ied"]),
        (_, b'e') => Word(stem, &["e", "es", "ed", "ing", "ed"]),
        _ => Word(word, &["", "s", "ed", "ing", "ed"]),
    }
}

/// The word without its last letter, that letter, and the one before it.
const fn ends(word: &'static str) -> (&'static str, u8, u8) {
    let bytes = word.as_bytes();
    let (stem, _) = word.split_at(bytes.len() - 1);
    (stem, bytes[bytes.len() - 1], bytes[bytes.len() - 2])
}

const BRING: Word = Word("br", &["ing", "ings", "ought", "inging", "ought"]);
const BUILD: Word = Word("buil", &["d", "ds", "t", "ding", "t"]);
const BUY: Word = Word("b", &["uy", "uys", "ought", "uying", "ought"]);
const CATCH: Word = Word("c", &["atch", "atches", "aught", "atching", "aught"]);
const DRIVE: Word = Word("dr", &["ive", "ives", "ove", "iving", "iven"]);
const FEED: Word = Word("fe", &["ed", "eds", "d", "eding", "d"]);
const GROW: Word = Word("gr", &["ow", "ows", "ew", "owing", "own"]);
const LEND: Word = Word("len", &["d", "ds", "t", "ding", "t"]);
const MAKE: Word = Word("ma", &["ke", "kes", "de", "king", "de"]);
const MAP: Word = Word("map", &["", "s", "ped", "ping", "ped"]);
const PLAN: Word = Word("plan", &["", "s", "ned", "ning", "ned"]);
const READ: Word = Word("read", &["", "s", "", "ing", ""]);
const REPOT: Word = Word("repot", &["", "s", "ted", "ting", "ted"]);
const SELL: Word = Word("s", &["ell", "ells", "old", "elling", "old"]);
const WRAP: Word = Word("wrap", &["", "s", "ped", "ping", "ped"]);

// Rows of words, without commas so that they stay rows.
macro_rules! nouns {
    ($($noun:literal)*) => { &[$(const { noun($noun) }),*] };
}
macro_rules! verbs {
    ($($regular:literal)*; $($irregular:ident)*) => { &[$(const { verb($regular) },)* $($irregular),*] };
}

pub(super) static TOPICS: [Topic; 20] = [
    Topic {
        label: "gardening",
        things: nouns![
            "rose" "herb" "tulip" "sunflower" "strawberry" "pumpkin" "tomato plant" "cucumber" "fern"
            "apple tree" "violet" "hydrangea" "bean" "lavender bush" "seedling" "orchid"
        ],
        verbs: verbs!["plant" "water" "tend" "protect"; GROW REPOT SELL],
        qualities: &["fragrant", "hardy", "colourful", "rare", "old-fashioned", "early", "dwarf"],
        groups: &["garden club", "allotment society", "flower committee", "growers association"],
        roles: &["gardener", "farmer", "botanist"],
        spots: &["greenhouse", "flower garden", "allotment", "botanical garden"],
        aspects: &["drainage", "soil quality", "morning sunlight", "watering", "composting"],
        events: &["plant sale", "garden workshop", "open garden day"],
        facts: lines![
            "water the soil in the early morning, and only once the surface is dry.",
            "in $m, the leaves of the $t slowly begin to change colour.",
            "a little compost mixed into the bed helps the roots of the $t to spread.",
            "in deep shade the $t grow slowly and bear fewer flowers.",
            "wipe the pruning shears after each use so that they do not rust.",
            "slugs came out after the rain and ate $n of the $t.",
        ],
    },
    Topic {
        label: "railways",
        things: nouns![
            "train" "tram" "locomotive" "railcar" "steam engine" "freight train" "night train" "carriage"
            "express train" "railway coach" "dining car" "commuter train" "diesel engine" "mail train"
            "sleeper car"
        ],
        verbs: verbs!["photograph" "restore" "inspect" "repair" "paint" "admire"; DRIVE],
        qualities: &["retired", "popular", "old", "modern", "narrow-gauge", "elegant"],
        groups: &["railway society", "heritage line", "station staff", "model railway club"],
        roles: &["train driver", "conductor", "station master"],
        spots: &["depot", "terminus", "station square", "railway museum"],
        aspects: &[
            "punctuality",
            "the timetable",
            "passenger comfort",
            "track maintenance",
            "the price of tickets",
        ],
        events: &["railway fair", "photo day", "open depot day"],
        facts: lines![
            "the first train leaves at five in the morning, and on weekdays there is one every $M minutes.",
            "because of work on the track, some trains will not run on $m $d.",
            "the line from $p to $q was electrified in $y.",
            "on snowy days the $t can arrive up to $M minutes late.",
            "the sea appears behind the last tunnel, and the passengers crowd to the windows.",
            "ticket inspectors counted $N passengers on the busiest service of the day.",
        ],
    },
    Topic {
        label: "cooking",
        things: nouns![
            "soup" "stew" "omelette" "curry" "pancake" "dumpling" "pie" "salad" "noodle dish" "casserole"
            "sandwich" "tart" "risotto" "flatbread" "meatball" "pudding"
        ],
        verbs: verbs!["cook" "prepare" "serve" "taste" "share" "enjoy"; MAKE],
        qualities: &["simple", "colourful", "hearty", "seasonal", "home-made", "spicy"],
        groups: &["cookery circle", "community kitchen", "food society", "supper club"],
        roles: &["cook", "chef", "dietitian"],
        spots: &["community kitchen", "canteen", "farm shop", "restaurant"],
        aspects: &["seasoning", "cooking time", "the choice of vegetables", "portion size", "freshness"],
        events: &["cooking class", "tasting evening", "shared supper"],
        facts: lines![
            "put the onions into cold water and bring it slowly to the boil.",
            "add the stock, cover the pot and simmer for $M minutes.",
            "slice the onions thinly and cut the carrots into small pieces.",
            "the $t will keep for two days in the refrigerator.",
            "a handful of chopped parsley at the end brings out the flavour.",
            "the oven should be hot before the tray goes in.",
        ],
    },
    Topic {
        label: "reading",
        things: nouns![
            "novel" "picture book" "atlas" "dictionary" "magazine" "newspaper" "biography" "poem" "comic"
            "mystery" "short story" "essay" "audiobook" "paperback" "fairy tale" "travel guide"
        ],
        verbs: verbs!["borrow" "recommend" "collect" "review" "display"; READ LEND],
        qualities: &["new", "illustrated", "much-loved", "large-print", "forgotten", "popular"],
        groups: &["library society", "reading group", "book club", "story circle"],
        roles: &["librarian", "editor", "bookseller"],
        spots: &["library", "reading room", "bookshop", "public library"],
        aspects: &[
            "evening opening",
            "the order of the shelves",
            "the number of loans",
            "the size of the print",
            "book care",
        ],
        events: &["story hour", "book fair", "poetry evening"],
        facts: lines![
            "each reader may take home $n books at a time and keep them for two weeks.",
            "books that are overdue should be returned to the front desk.",
            "the reading room has $N seats, and those by the windows fill up first.",
            "a shelf of $t chosen by the librarian stands near the entrance.",
            "the main building opened in $y and still smells of wood and paper.",
            "new cards are issued on the spot to anyone who lives in $p.",
        ],
    },
    Topic {
        label: "festivals",
        things: nouns![
            "lantern" "drum" "costume" "parade float" "banner" "mask" "puppet" "kite" "garland" "torch"
            "flag" "candle" "paper dragon" "flower crown" "trumpet"
        ],
        verbs: verbs!["carry" "decorate" "display" "paint" "admire"; MAKE BRING],
        qualities: &["bright", "traditional", "huge", "hand-painted", "noisy", "golden"],
        groups: &["festival committee", "youth club", "parade society", "street band"],
        roles: &["organiser", "drummer", "dancer"],
        spots: &["town square", "main street", "riverside", "village hall"],
        aspects: &[
            "the weather on the day",
            "the route of the parade",
            "crowd safety",
            "traffic control",
            "fundraising",
        ],
        events: &["summer festival", "harvest festival", "opening night"],
        facts: lines![
            "at dusk the lamps are lit, and the street fills with people.",
            "the custom is said to have begun around $Y.",
            "in case of rain, the festival will be held on the following day.",
            "about $L stalls sell noodles, sweets and cold drinks.",
            "from $n in the afternoon, cars must take another road.",
            "the fireworks lasted $M minutes and could be seen from $q.",
        ],
    },
    Topic {
        label: "weather",
        things: nouns![
            "storm" "rain cloud" "cold front" "heat wave" "thunderstorm" "rainbow" "snowfall" "hailstorm"
            "sea breeze" "frost" "fog bank" "dust storm" "blizzard" "shower" "typhoon" "warm front"
        ],
        verbs: verbs!["observe" "predict" "record" "study" "track" "photograph" "measure";],
        qualities: &["sudden", "unusual", "late", "heavy", "distant", "early"],
        groups: &["weather society", "meteorological office", "flood watch", "weather station team"],
        roles: &["forecaster", "observer", "climate scientist"],
        spots: &["weather station", "harbour", "mountain hut", "observatory"],
        aspects: &["temperature", "humidity", "rainfall", "wind speed", "the accuracy of the forecast"],
        events: &["safety workshop", "weather lecture", "open day"],
        facts: lines![
            "the day was $n degrees warmer than usual for the season.",
            "rain will spread to the hills by evening, with thunder in places.",
            "after $M millimetres of rain in one hour, the river began to rise.",
            "high pressure will bring dry and mostly sunny weather at the weekend.",
            "strong winds are expected, so please take care when you go out.",
            "snow lay on the roofs of $p for $n days.",
        ],
    },
    Topic {
        label: "school life",
        things: nouns![
            "essay" "science project" "play" "poster" "diary" "report" "class newspaper" "debate" "model"
            "painting" "worksheet" "speech" "experiment" "song" "book review" "short film"
        ],
        verbs: verbs!["present" "finish" "discuss" "improve" "share" "prepare"; PLAN],
        qualities: &["first", "ambitious", "thoughtful", "funny", "well-made", "original"],
        groups: &["student council", "parents association", "science club", "drama group"],
        roles: &["teacher", "head teacher", "pupil"],
        spots: &["gymnasium", "art room", "school hall", "playground"],
        aspects: &["homework", "class size", "the way to school", "the lunch menu", "teamwork"],
        events: &["open day", "school concert", "science fair"],
        facts: lines![
            "all $N pupils met in the hall and set their goals for the new term.",
            "the school lunches are made with vegetables from local farms.",
            "the first lesson begins at a quarter to nine.",
            "$i $h, a former pupil, came back to talk about working life.",
            "the school library stays open three days a week in the holidays.",
            "each class has $L pupils and one teacher.",
        ],
    },
    Topic {
        label: "astronomy",
        things: nouns![
            "comet" "planet" "meteor shower" "galaxy" "star cluster" "eclipse" "satellite" "double star"
            "moon" "asteroid" "constellation" "supernova" "sunspot" "space probe" "crater"
        ],
        verbs: verbs!["observe" "photograph" "study" "sketch" "follow" "describe" "track";],
        qualities: &["bright", "faint", "distant", "newly found", "famous", "icy"],
        groups: &["astronomy club", "observatory team", "stargazing society", "telescope makers guild"],
        roles: &["astronomer", "physicist", "night-sky guide"],
        spots: &["observatory", "planetarium", "hilltop", "viewing platform"],
        aspects: &["the darkness of the sky", "moonlight", "magnification", "cloud cover", "timing"],
        events: &["star party", "night-sky lecture", "photo exhibition"],
        facts: lines![
            "the best time is about nine in the evening, low in the south-eastern sky.",
            "away from the city lights, up to $L shooting stars can be seen each hour.",
            "through the telescope, the rings of Saturn were sharp and clear.",
            "on cold nights it helps to bring a warm coat and something hot to drink.",
            "the same event will not be seen again for $n years.",
            "it takes the eyes about $M minutes to get used to the dark.",
        ],
    },
    Topic {
        label: "crafts",
        things: nouns![
            "bowl" "basket" "quilt" "vase" "teapot" "wooden toy" "necklace" "rug" "tapestry" "leather bag"
            "paper lantern" "blanket" "chair" "jar" "bracelet"
        ],
        verbs: verbs!["repair" "design" "display" "decorate" "collect"; MAKE SELL],
        qualities: &["hand-made", "plain", "delicate", "indigo", "well-worn", "unusual"],
        groups: &["craft guild", "pottery club", "weavers society", "makers market"],
        roles: &["potter", "weaver", "carpenter"],
        spots: &["workshop", "pottery", "gallery", "old mill"],
        aspects: &["the final colour", "the choice of material", "tool care", "pattern", "finishing"],
        events: &["craft fair", "pottery market", "exhibition"],
        facts: lines![
            "the pots stay in the kiln for about $M hours.",
            "the wood is left to dry for $n years before it is cut.",
            "the same pattern looks different in the hands of each maker.",
            "$i, the youngest apprentice, joined the workshop $n years ago.",
            "after use, wipe each piece with a soft cloth and let it dry in the shade.",
            "the clay comes from a pit near $q.",
        ],
    },
    Topic {
        label: "local history",
        things: nouns![
            "manuscript" "castle" "map" "coin" "stone tablet" "burial mound" "letter" "monument" "chapel"
            "bridge" "charter" "sword" "diary" "ruin" "portrait" "mosaic"
        ],
        verbs: verbs!["study" "preserve" "describe" "document" "examine" "restore" "protect";],
        qualities: &["medieval", "precious", "forgotten", "Roman", "recently found", "weathered"],
        groups: &["history society", "heritage trust", "excavation team", "archive group"],
        roles: &["historian", "archaeologist", "curator"],
        spots: &["museum", "excavation site", "town archive", "old town hall"],
        aspects: &["dating", "preservation", "daily life in the past", "the origin of the name", "fieldwork"],
        events: &["history lecture", "special exhibition", "guided walk"],
        facts: lines![
            "the remains of a context from about $n thousand years ago were found during the dig.",
            "the great fire of $Y destroyed much of the town and its records.",
            "travellers once rested here on the long road to $q.",
            "the $h family ruled the valley for three generations.",
            "the name of the village is written in ink on the cover.",
            "a wall from $Y still stands behind the church.",
        ],
    },
    Topic {
        label: "software",
        things: nouns![
            "program" "app" "database" "search engine" "spreadsheet" "browser" "code library" "compiler"
            "text editor" "web server" "game" "map service" "translator" "parser" "plugin"
            "operating system"
        ],
        verbs: verbs!["develop" "test" "update" "release" "use" "improve" "install";],
        qualities: &["free", "fast", "reliable", "multilingual", "small", "open"],
        groups: &["development team", "user group", "quality team", "research lab"],
        roles: &["programmer", "engineer", "designer"],
        spots: &["computer lab", "office", "training centre", "data centre"],
        aspects: &["speed", "security", "ease of use", "memory use", "error handling"],
        events: &["workshop", "developer conference", "product demonstration"],
        facts: lines![
            "in the new version, the time needed to start fell by $c percent.",
            "of $N reported bugs, $n were fixed within a day.",
            "after editing the settings file, restart the program.",
            "the tests run every night, and the results arrive in the morning.",
            "data in the old format can be converted and loaded as before.",
            "the source code is read by at least $n people before each release.",
        ],
    },
    Topic {
        label: "sport",
        things: nouns![
            "match" "race" "tournament" "training session" "marathon" "relay" "game" "swimming meet"
            "cup final" "league match" "tennis match" "bicycle race" "time trial" "boat race" "judo bout"
        ],
        verbs: verbs!["organise" "watch" "film" "attend" "host" "enjoy"; PLAN],
        qualities: &["close", "exciting", "friendly", "regional", "fast", "amateur"],
        groups: &["athletics club", "football club", "sports council", "rowing club"],
        roles: &["coach", "player", "referee"],
        spots: &["stadium", "sports hall", "swimming pool", "running track"],
        aspects: &["fitness", "training time", "team spirit", "injury prevention", "fair play"],
        events: &["sports day", "charity run", "trial lesson"],
        facts: lines![
            "the home team won the final by $n goals to one.",
            "neither side gave way, and the score was level at half time.",
            "$h beat the old record by $n seconds and reached the podium.",
            "the players warm up for $M minutes before the start.",
            "a crowd of $N supporters filled the stand.",
            "two late goals turned the match around.",
        ],
    },
    Topic {
        label: "health",
        things: nouns![
            "walk" "stretch" "breakfast" "check-up" "nap" "exercise" "healthy meal" "rest day"
            "morning swim" "breathing exercise" "vaccination" "bedtime routine" "bicycle ride"
            "balance drill"
        ],
        verbs: verbs!["recommend" "schedule" "try" "record" "suggest" "discuss"; PLAN],
        qualities: &["gentle", "daily", "regular", "short", "effective", "early"],
        groups: &["health centre", "walking group", "medical association", "town hospital"],
        roles: &["doctor", "nurse", "physiotherapist"],
        spots: &["clinic", "health centre", "park", "community hall"],
        aspects: &["blood pressure", "sleep", "weight", "a balanced diet", "stress"],
        events: &["health day", "exercise class", "public lecture"],
        facts: lines![
            "walking $n thousand steps a day is a good start.",
            "too much salt raises the blood pressure of many people.",
            "vaccinations are by appointment, for up to $N people a day.",
            "if the pain does not go away, please see a doctor.",
            "turning off screens $M minutes before bed leads to deeper sleep.",
            "a glass of water in the morning does more good than most people think.",
        ],
    },
    Topic {
        label: "music",
        things: nouns![
            "symphony" "folk song" "march" "waltz" "sonata" "lullaby" "hymn" "quartet" "opera" "ballad"
            "concerto" "overture" "duet" "film score" "piano piece" "carol"
        ],
        verbs: verbs!["play" "perform" "rehearse" "record" "arrange" "study" "present";],
        qualities: &["quiet", "cheerful", "well-known", "northern", "forgotten", "moving"],
        groups: &["orchestra", "choir", "brass band", "music society"],
        roles: &["pianist", "conductor", "composer"],
        spots: &["concert hall", "rehearsal room", "town hall", "music school"],
        aspects: &["sound quality", "tempo", "the history of the piece", "tuning", "the echo of the hall"],
        events: &["concert", "recital", "music festival"],
        facts: lines![
            "when the last note faded, the audience rose and clapped for $n minutes.",
            "tickets cost $n dollars, and students are admitted free of charge.",
            "the score was found in an attic in $p in $y.",
            "the choir has $L singers and rehearses twice a week.",
            "the slow second movement stays in the memory of everyone who hears it.",
            "the violins were a little flat at first but soon settled.",
        ],
    },
    Topic {
        label: "fishing",
        things: nouns![
            "oyster" "crab" "lobster" "sardine" "herring" "clam" "prawn" "anchovy" "mussel" "scallop" "eel"
            "cockle" "flounder" "sea urchin" "sprat" "sea snail"
        ],
        verbs: verbs!["cook" "sort" "pack" "deliver" "weigh"; CATCH SELL],
        qualities: &["fresh", "local", "large", "smoked", "excellent", "salted"],
        groups: &["fishing cooperative", "harbour board", "fisheries institute", "market association"],
        roles: &["fisherman", "fish trader", "marine biologist"],
        spots: &["fishing port", "fish market", "quay", "smokehouse"],
        aspects: &["the size of the catch", "sea temperature", "the price of fuel", "the tide", "freshness"],
        events: &["harbour festival", "seafood market", "cooking demonstration"],
        facts: lines![
            "the boats leave the harbour at three in the morning and sail for $n hours.",
            "about $n tons were landed this morning, which is more than on the same day last year.",
            "the sea is warm this year, and the season began $M days late.",
            "the traders shout their bids while the boxes are carried out.",
            "one by one, the boats come home by the light of the lighthouse.",
            "nets are mended on the quay whenever the wind is too strong.",
        ],
    },
    Topic {
        label: "hiking",
        things: nouns![
            "trail" "ridge" "waterfall" "forest" "valley" "mountain hut" "peak" "meadow" "gorge" "viewpoint"
            "stream" "pine grove" "cliff" "glacier" "cave" "lake"
        ],
        verbs: verbs!["explore" "photograph" "protect" "visit" "describe" "sketch"; MAP],
        qualities: &["quiet", "steep", "remote", "beautiful", "untouched", "icy"],
        groups: &["alpine club", "nature trust", "mountain rescue team", "forest service"],
        roles: &["climber", "mountain guide", "ranger"],
        spots: &["trailhead", "lookout tower", "national forest", "campsite"],
        aspects: &[
            "the state of the path",
            "walking time",
            "drinking water",
            "the weather",
            "the weight of the pack",
        ],
        events: &["nature walk", "climbing course", "clean-up day"],
        facts: lines![
            "at an easy pace it takes about $n hours to reach the top.",
            "above $n hundred metres the trees grow smaller.",
            "bears have been seen lately, so hikers are asked to carry a bell.",
            "from the top, the islands could be seen above a sea of clouds.",
            "plan to be on the way down by three in the afternoon at the latest.",
            "the hut has $L beds and a small kitchen.",
        ],
    },
    Topic {
        label: "cars",
        things: nouns![
            "car" "automobile" "truck" "lorry" "van" "bus" "motorcycle" "electric car" "taxi" "sports car"
            "fire engine" "tractor" "minibus" "scooter" "camper" "delivery van"
        ],
        verbs: verbs!["repair" "test" "inspect" "wash" "polish"; DRIVE SELL],
        qualities: &["reliable", "old", "economical", "red", "second-hand", "powerful"],
        groups: &["motor club", "road safety council", "bus company", "vehicle museum"],
        roles: &["mechanic", "driver", "engineer"],
        spots: &["garage", "car park", "test track", "showroom"],
        aspects: &["fuel consumption", "road safety", "mileage", "charging time", "insurance"],
        events: &["test drive", "safety course", "classic car show"],
        facts: lines![
            "on one charge the new model travels about $n hundred kilometres.",
            "road works will take place on $n nights from $m $d.",
            "check the tread of the tyres at least once a month.",
            "slow down in the rain, because it takes longer to stop.",
            "the engine is so quiet that even a long journey is restful.",
            "automobile sales in $p rose by $c percent.",
        ],
    },
    Topic {
        label: "animals",
        things: nouns![
            "dog" "cat" "rabbit" "penguin" "giraffe" "elephant" "horse" "tortoise" "owl" "fox" "swan"
            "otter" "parrot" "donkey" "goat" "hedgehog" "seal"
        ],
        verbs: verbs!["watch" "photograph" "protect" "rescue" "weigh" "examine"; FEED],
        qualities: &["friendly", "newborn", "curious", "calm", "lively", "injured"],
        groups: &["animal shelter", "zoo", "bird society", "veterinary association"],
        roles: &["keeper", "vet", "trainer"],
        spots: &["zoo", "farm", "animal hospital", "petting area"],
        aspects: &["diet", "body weight", "behaviour", "sleep", "handling"],
        events: &["open day", "feeding hour", "photo show"],
        facts: lines![
            "at birth the smallest weighed $n hundred grams, and it has grown quickly since.",
            "food is given twice a day, always at the same time.",
            "visitors chose the name, and the winning idea had $N votes.",
            "please keep your voice down so that the animals are not frightened.",
            "they spend the winter in a heated context.",
            "the vet comes every $W and checks their weight.",
        ],
    },
    Topic {
        label: "town planning",
        things: nouns![
            "park" "bridge" "footpath" "playground" "square" "community hall" "street light" "bus stop"
            "library" "fountain" "cycle lane" "car park" "nursery" "sea wall" "market hall" "public garden"
        ],
        verbs: verbs!["repair" "inspect" "maintain" "improve" "fund" "redesign"; BUILD],
        qualities: &["ageing", "central", "new", "popular", "riverside", "accessible"],
        groups: &["town council", "residents association", "planning board", "chamber of commerce"],
        roles: &["councillor", "architect", "town clerk"],
        spots: &["town hall", "civic centre", "council chamber", "meeting context"],
        aspects: &["cost", "public opinion", "maintenance", "the use of the budget", "traffic"],
        events: &["public meeting", "hearing", "consultation"],
        facts: lines![
            "the council approved an extra budget of $n million without a single vote against it.",
            "the population has fallen slowly since $y.",
            "from $m, rubbish will be collected on $W.",
            "of the $N households that replied, $c percent were in favour.",
            "the office is open from nine to five on weekdays.",
            "work on the main road will be finished by $m $d.",
        ],
    },
    Topic {
        label: "shopping",
        things: nouns![
            "hat" "bag" "watch" "toy" "teacup" "notebook" "lamp" "coat" "clock" "cushion" "gift box"
            "umbrella" "picture frame" "jumper" "sweater" "ring"
        ],
        verbs: verbs!["display" "order" "recommend" "stock"; SELL BUY WRAP],
        qualities: &["affordable", "elegant", "hand-made", "popular", "limited-edition", "stylish"],
        groups: &["traders association", "shopkeepers guild", "consumer cooperative", "market council"],
        roles: &["shopkeeper", "sales assistant", "wholesaler"],
        spots: &["market", "shopping arcade", "department store", "corner shop"],
        aspects: &["price", "choice", "late opening", "customer service", "demand"],
        events: &["summer sale", "night market", "street fair"],
        facts: lines![
            "the shops open at ten and are closed on $W.",
            "customers who spend thirty dollars may park free for $n hours.",
            "the business was founded in $y and is still in family hands.",
            "a new coffee context has opened in what was an empty shop.",
            "the first $N customers will receive a small present.",
            "goods can be returned within $n days if the label is still on.",
        ],
    },
];
