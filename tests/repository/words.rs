//! The words that descriptions are made of.

/// What books are about, in English, French, German, Spanish, Russian and Japanese.
pub const TOPICS: [[&str; 6]; 16] = [
    ["Letters", "Lettres", "Briefe", "Cartas", "Письма", "手紙"],
    ["Maps", "Cartes", "Karten", "Mapas", "Карты", "地図"],
    ["Songs", "Chansons", "Lieder", "Canciones", "Песни", "歌"],
    ["Travels", "Voyages", "Reisen", "Viajes", "Путешествия", "旅"],
    ["Gardens", "Jardins", "Gärten", "Jardines", "Сады", "庭"],
    ["Rivers", "Rivières", "Flüsse", "Ríos", "Реки", "川"],
    ["Bridges", "Ponts", "Brücken", "Puentes", "Мосты", "橋"],
    ["Birds", "Oiseaux", "Vögel", "Pájaros", "Птицы", "鳥"],
    ["Stars", "Étoiles", "Sterne", "Estrellas", "Звёзды", "星"],
    ["Kitchens", "Cuisines", "Küchen", "Cocinas", "Кухни", "台所"],
    ["Harbours", "Ports", "Häfen", "Puertos", "Гавани", "港"],
    ["Clocks", "Horloges", "Uhren", "Relojes", "Часы", "時計"],
    ["Windows", "Fenêtres", "Fenster", "Ventanas", "Окна", "窓"],
    ["Winters", "Hivers", "Winter", "Inviernos", "Зимы", "冬"],
    ["Markets", "Marchés", "Märkte", "Mercados", "Рынки", "市場"],
    ["Theatres", "Théâtres", "Theater", "Teatros", "Театры", "劇場"],
];

/// Codes of the languages above, as MARC has them, and the tags XML wants.
pub const LANGUAGES: [(&str, &str); 6] =
    [("eng", "en"), ("fre", "fr"), ("ger", "de"), ("spa", "es"), ("rus", "ru"), ("jpn", "ja")];

pub const PLACES: [&str; 20] = [
    "Zürich",
    "São Paulo",
    "Łódź",
    "Tromsø",
    "Kraków",
    "Québec",
    "Évora",
    "Ōsaka",
    "Reykjavík",
    "Győr",
    "Plzeň",
    "Málaga",
    "Cork",
    "Tartu",
    "Iași",
    "Αθήνα",
    "Казань",
    "İzmir",
    "Lübeck",
    "Hà Nội",
];

pub const SURNAMES: [&str; 24] = [
    "Abernathy",
    "Bélanger",
    "Çelik",
    "Dvořáková",
    "Eriksen",
    "Fürst",
    "García",
    "Hügli",
    "Ivanova",
    "Järvinen",
    "Kowalczyk",
    "Lindqvist",
    "Müller-Brandt",
    "Núñez",
    "O'Leary",
    "Pálsson",
    "Quispe",
    "Roșu",
    "Sørensen",
    "Tanaka",
    "Ueda",
    "Vasconcelos",
    "Wójcik",
    "Zhang",
];

pub const GIVEN_NAMES: [&str; 20] = [
    "Ada",
    "Benoît",
    "Clara",
    "Daniel",
    "Élise",
    "Friedrich",
    "Greta",
    "Hiroshi",
    "Inés",
    "Jakob",
    "Katarzyna",
    "Lars",
    "Marguerite",
    "Nils",
    "Olga",
    "Pedro",
    "Rosa",
    "Søren",
    "Teresa",
    "Yuki",
];

pub const PUBLISHERS: [&str; 8] = [
    "Attic Press",
    "Éditions du Grenier",
    "Verlag am Deich",
    "Casa del Puente",
    "Harbour & Daughters",
    "Three Lamps",
    "Imprimerie des Deux Rives",
    "North Quay Books",
];

/// The sets by their specs, deeper ones after those they lie in. Only leaves hold records
/// themselves.
pub const SETS: [(&str, &str); 8] = [
    ("theses", "Theses"),
    ("theses:doctoral", "Doctoral theses"),
    ("theses:master", "Master's theses"),
    ("books", "Books"),
    ("books:fiction", "Fiction"),
    ("books:fiction:translated", "Fiction & translations"),
    ("maps", "Maps"),
    ("open", "Free to read"),
];

/// The leaves one of which every record is in.
pub const LEAVES: [&str; 4] = ["theses:doctoral", "theses:master", "books:fiction:translated", "maps"];
