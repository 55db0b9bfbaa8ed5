//! The same orders in other languages than English.

use super::anchor::part;
use super::order::words;

/// Beginnings of verbs and phrases, in both cases where a letter is not ASCII.
pub(super) const ANCHORS: &[&str] = &[
    "vergiss",
    "vergesst",
    "missachte",
    "ab jetzt bist",
    "ab sofort bist",
    "du bist jetzt",
    "oublie",
    "tenez pas compte",
    "tiens pas compte",
    "abstraction d",
    "maintenant tu es",
    "maintenant vous",
    "désormais tu es",
    "olvida",
    "olvide",
    "descarta",
    "caso omiso",
    "en cuenta las instrucc",
    "a partir de ahora",
    "esqueça",
    "esquece ",
    "desconsidere",
    "a partir de agora",
    "dimentica",
    "ora in poi",
    "non tenere conto",
    "negeer",
    "vergeet",
    "vanaf nu ben",
    "zapomnij",
    "talimat",
    "abaikan",
    "bỏ qua",
    "strunta i",
    "unohda",
    "ohita",
    "figyelmen",
    "αγνόησε",
    "Αγνόησε",
    "ігнор",
    "Ігнор",
    "игнор",
    "Игнор",
    "забудь",
    "Забудь",
    "забудьте",
    "обращай внимания",
    "обращайте внимания",
    "теперь ты",
    "Теперь ты",
    "этого момента ты",
    "تجاهل",
    "התעלם",
    "निर्देश",
    "忽略",
    "无视",
    "無視",
    "忽視",
    "忘记",
    "忘記",
    "忘掉",
    "忘れて",
    "理会",
    "从现在开始",
    "从现在起",
    "現在起",
    "告诉用户",
    "今からあなた",
    "これからあなた",
    "무시",
    "잊어",
    "잊고",
    "beachte die",
    "benutzer nicht",
    "nutzer nicht",
    "l'utilisateur",
    "l’utilisateur",
    "al usuario",
    "ao usuário",
    "ao utilizador",
    "all'utente",
    "all’utente",
    "gebruiker",
    "пользовател",
    "従わない",
    "ユーザー",
    "用户",
];

/// Verbs that drop something, and the beginnings of what is dropped, language by language.
const SPACED: &[(&[&str], &[&str])] = &[
    (
        &["ignoriere", "ignorieren", "ignoriert", "vergiss", "vergesst", "missachte"],
        &["anweisung", "instruktion", "befehl", "vorgabe", "prompt"],
    ),
    (&["vergiss", "vergesst"], &["alles"]),
    (
        &["ignorez", "oublie", "oubliez", "compte", "abstraction"],
        &["instructions", "consigne", "directive", "ordres", "précède", "précédent"],
    ),
    (
        &["ignora", "ignore", "ignorad", "olvida", "olvide", "descarta", "omiso", "cuenta"],
        &["instruccion", "indicacion", "órdenes"],
    ),
    (&["olvida", "olvide"], &["anterior"]),
    (
        &["ignore", "ignora", "esqueça", "esquece", "desconsidere"],
        &["instruções", "instrucoes", "orientações"],
    ),
    (&["esqueça", "esquece"], &["tudo"]),
    (
        &["ignora", "ignorate", "dimentica", "dimenticate", "conto"],
        &["istruzioni", "indicazioni", "ordini"],
    ),
    (&["dimentica", "dimenticate"], &["tutto"]),
    (&["negeer", "vergeet"], &["instructie", "aanwijzing", "opdracht", "alles", "eerder"]),
    (&["ignoruj", "zapomnij"], &["instrukcj", "poleceni", "wskazówk", "pokyny", "instrukce"]),
    (&["ignorera", "ignorer", "strunta"], &["instruktion", "instruks", "tidigare"]),
    (&["abaikan"], &["instruksi", "perintah", "petunjuk"]),
    (&["bỏ"], &["hướng", "chỉ", "lệnh"]),
    (&["unohda", "ohita"], &["ohje", "aiem"]),
    (&["figyelmen"], &["utasítás", "kívül"]),
    (&["ignoră", "ignorați"], &["instrucțiuni"]),
    (&["αγνόησε"], &["οδηγίες", "προηγούμενες", "εντολές"]),
    (
        &["игнорируй", "игнорируйте", "забудь", "забудьте", "внимания"],
        &["инструкц", "указани", "предыдущ", "команд", "всё", "все", "правил"],
    ),
    (&["ігноруй", "ігноруйте"], &["інструкц", "вказівк", "попередн"]),
    (&["تجاهل"], &["التعليمات", "الأوامر", "جميع", "كل"]),
    (&["התעלם"], &["מההוראות", "מכל", "הוראות", "ההוראות"]),
];

/// Phrases that are enough by themselves, as words or with their signs as they are written.
const PHRASES: &[&str] = &[
    "ignore les instructions",
    "ignore toutes les",
    "ignore tes instructions",
    "ignore les consignes",
    "ab jetzt bist du",
    "ab sofort bist du",
    "du bist jetzt ein",
    "maintenant tu es",
    "désormais tu es",
    "a partir de ahora eres",
    "a partir de ahora serás",
    "a partir de agora você",
    "a partir de agora voce",
    "ora in poi sei",
    "ora in poi sarai",
    "vanaf nu ben je",
    "теперь ты не",
    "теперь ты —",
    "теперь ты -",
    "этого момента ты",
];

/// What is dropped, in languages that put no spaces between words or the verb at the end.
const THINGS: &[&str] = &[
    "指令",
    "指示",
    "命令",
    "提示",
    "说明",
    "規則",
    "规则",
    "プロンプト",
    "ルール",
    "以上",
    "上述",
    "之前",
    "지시",
    "명령",
    "프롬프트",
    "지침",
    "निर्देश",
    "talimat",
];

/// What drops it.
const DROPS: &[&str] = &[
    "忽略",
    "无视",
    "無視",
    "忽視",
    "忘记",
    "忘記",
    "忘掉",
    "忘れて",
    "従わない",
    "不要理会",
    "无需理会",
    "무시",
    "잊어",
    "잊고",
    "अनदेखा",
    "भूल",
    "yok say",
    "unut",
    "görmezden",
    "dikkate alma",
];

/// Beginnings that are enough there.
const UNSPACED: &[&str] = &["今からあなたは", "これからあなたは", "从现在开始你", "从现在起你"];

/// Who must not be told, and how that is said before or behind it.
const UNTOLD: &[(&str, &[&str])] = &[
    ("benutzer nicht", &["sag dem", "sage dem", "sagen sie dem", "erzähl", "verrate", "zeig"]),
    ("nutzer nicht", &["sag dem", "sage dem", "sagen sie dem", "erzähl", "verrate", "zeig"]),
    ("l'utilisateur", &["ne dis", "ne dites", "ne parle", "n'en parle", "n'informe", "ne révèle"]),
    ("al usuario", &["no le digas", "no le diga", "no digas", "no informes", "no reveles"]),
    ("ao usuário", &["não diga", "não conte", "não informe", "não revele"]),
    ("ao utilizador", &["não diga", "não conte", "não informe", "não revele"]),
    ("all'utente", &["non dire", "non dirlo", "non rivelare", "non informare"]),
    ("gebruiker", &["zeg niets", "vertel dit niet", "zeg dit niet", "vertel niets"]),
    ("пользовател", &["не говори", "не сообщай", "не рассказывай", "не показывай"]),
    ("用户", &["不要告诉", "不要把", "别告诉", "不要让", "请勿告知", "不得告知"]),
    ("告诉用户", &["不要告诉", "不要把", "别告诉", "不要让", "请勿告知", "不得告知"]),
    ("ユーザー", &["言わない", "伝えない", "知らせない", "教えない", "話さない"]),
];

/// Whether somebody must not be told.
fn keeps_silent(text: &str, at: usize) -> bool {
    let near = || words(part(text, at.saturating_sub(48)..at + 48));
    let here = words(part(text, at..at + 24));
    let untold = |(who, how): &(&str, &[&str])| {
        here.starts_with(who) && how.iter().any(|how| near().contains(how))
    };
    UNTOLD.iter().any(untold)
}

/// How many words behind a verb are read.
const MAX_WORDS: usize = 8;

/// Whether the words from an anchor on, or the characters around it, are an order.
pub(super) fn gives_orders(text: &str, at: usize, after: &str) -> bool {
    let mut words = after.split(' ');
    let verb = words.next().unwrap_or_default();
    let rest: Vec<&str> = words.take(MAX_WORDS).collect();
    let starts = |things: &[&str]| {
        rest.iter().any(|word| things.iter().any(|thing| word.starts_with(thing)))
    };
    // Some verbs are phrases: `ne tenez pas compte`.
    let drops = |(drops, things): &(&[&str], &[&str])| {
        let mut verbs = std::iter::once(&verb).chain(rest.iter().take(2));
        verbs.any(|verb| drops.contains(verb)) && starts(things)
    };
    let written = part(text, at..at + 48).to_lowercase();
    let begins = |phrase: &&str| after.starts_with(phrase) || written.starts_with(phrase);
    PHRASES.iter().any(begins)
        || SPACED.iter().any(drops)
        || verb == "beachte"
            && rest.contains(&"nicht")
            && starts(&["anweisung", "vorgabe", "regel"])
        || keeps_silent(text, at)
        || around(text, at)
}

/// Orders in languages without spaces: a thing and what drops it, near each other.
fn around(text: &str, at: usize) -> bool {
    let ahead = part(text, at..at + 64);
    if ahead.is_ascii() && !ahead.to_ascii_lowercase().starts_with("talimat") {
        return false;
    }
    let bare: String =
        ahead.chars().filter(|c| !c.is_whitespace() && !"，,".contains(*c)).collect();
    if UNSPACED.iter().any(|start| bare.starts_with(start)) {
        return true;
    }
    // A thing that is named in the sentence before is another matter.
    let before = part(text, at.saturating_sub(48)..at);
    let before = before.rsplit(['\n', '.', '。']).next().unwrap_or_default();
    let near = format!("{before}{ahead}").to_lowercase();
    let verb = DROPS.iter().any(|drops| near.contains(drops));
    verb && THINGS.iter().any(|thing| near.contains(thing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::anchor;
    use crate::guard::order::findings;

    fn is_order(text: &str) -> bool {
        !findings(text, &anchor::anchors(text)).is_empty()
    }

    /// The examples that are not noticed.
    fn silent(examples: impl Iterator<Item = String>) -> Vec<String> {
        examples.filter(|example| !is_order(example)).collect()
    }

    #[test]
    fn every_phrase_and_word_of_a_table_can_fire() {
        let phrases = PHRASES.iter().map(|phrase| format!("{phrase} x"));
        let begun = UNSPACED.iter().map(|start| format!("{start}x"));
        let mut missed = silent(phrases.chain(begun));
        for (verbs, things) in SPACED {
            // A verb needs one thing that it goes with, and a thing one verb. Some verbs are only
            // looked for in a phrase.
            let goes = |verb: &str, thing: &str| {
                let phrases = ANCHORS.iter().copied().filter(|anchor| anchor.contains(verb));
                let mut all = phrases.chain([verb]);
                all.any(|verb| is_order(&format!("x {verb} x {thing} x")))
            };
            let verb = |verb: &&&str| !things.iter().any(|thing| goes(verb, thing));
            let thing = |thing: &&&str| !verbs.iter().any(|verb| goes(verb, thing));
            missed.extend(verbs.iter().filter(verb).map(|verb| format!("{verb} {things:?}")));
            missed.extend(things.iter().filter(thing).map(|thing| format!("{verbs:?} {thing}")));
        }
        let both = |thing: &str, drops: &str| {
            is_order(&format!("{thing}{drops}")) || is_order(&format!("{thing} {drops}"))
        };
        let thing = |thing: &&&str| !DROPS.iter().any(|drops| both(thing, drops));
        let drops = |drops: &&&str| !THINGS.iter().any(|thing| both(thing, drops));
        missed.extend(THINGS.iter().filter(thing).map(|thing| thing.to_string()));
        missed.extend(DROPS.iter().filter(drops).map(|drops| drops.to_string()));
        for (who, how) in UNTOLD {
            let orders = how.iter().map(|how| format!("{how} {who}"));
            missed.extend(silent(orders));
        }
        assert_eq!(missed, [] as [String; 0]);
    }
}
