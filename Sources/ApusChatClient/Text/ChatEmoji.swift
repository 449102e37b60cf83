/// Emoji and the names that users type between colons: `:heart:`. The table is that of the page
/// (`Web/js/text/emoji.js`).
public enum ChatEmoji {
    /// The emoji of a group of the picker, with their names.
    public struct Group: Sendable, Hashable {
        /// The key of the group, for example `food`.
        public var key: String
        /// The emoji and their names, in the order of the picker.
        public var items: [Item]
    }

    /// An emoji with its name.
    public struct Item: Sendable, Hashable {
        /// The emoji.
        public var face: String
        /// The name, without colons.
        public var name: String
    }

    /// The groups of the picker.
    public static let groups: [Group] = Self.data.map { key, list in
        let items = list.split(separator: ",").compactMap { entry -> Item? in
            guard let space = entry.firstIndex(of: " ") else { return nil }
            return Item(face: String(entry[..<space]), name: String(entry[entry.index(after: space)...]))
        }
        return Group(key: key, items: items)
    }

    /// Returns the emoji whose names contain a text; those that begin with it first.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - limit: The maximum number of emoji. Default: 8.
    public static func matching(_ text: String, limit: Int = 8) -> [Item] {
        let wanted = text.lowercased()
        let all = Self.groups.flatMap(\.items)
        let starts = all.filter { $0.name.hasPrefix(wanted) }
        let others = all.filter { !$0.name.hasPrefix(wanted) && $0.name.contains(wanted) }
        return Array((starts + others).prefix(max(0, limit)))
    }

    /// Replaces each known `:name:`.
    static func replacingNames(in text: [Unicode.Scalar]) -> [Unicode.Scalar] {
        guard text.contains(":") else { return text }
        var result: [Unicode.Scalar] = []
        var place = 0
        while place < text.count {
            if text[place] == ":" {
                var end = place + 1
                while end < text.count, end - place <= 24, Self.isNameCharacter(text[end]) { end += 1 }
                if end > place + 1, end < text.count, text[end] == ":" {
                    // Of an unknown name nothing is looked at again.
                    let name = String(String.UnicodeScalarView(text[(place + 1)..<end]))
                    if let face = Self.faces[name] { result += face.unicodeScalars } else { result += text[place...end] }
                    place = end + 1
                    continue
                }
            }
            result.append(text[place])
            place += 1
        }
        return result
    }

    private static func isNameCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "0"..."9", "_", "+", "-": true
        default: false
        }
    }

    private static let faces: [String: String] = {
        var faces: [String: String] = [:]
        for item in Self.groups.flatMap(\.items) { faces[item.name] = item.face }
        return faces.merging(["+1": "👍", "-1": "👎", "love": "❤️", "lol": "😂"]) { $1 }
    }()

    private static let data: [(key: String, list: String)] = [
        (
            "smileys",
            """
            😀 grinning,😃 smiley,😄 smile,😁 grin,😆 laughing,😅 sweat_smile,🤣 rofl,😂 joy,🙂 slight_smile,🙃 upside_down,😉 wink,\
            😊 blush,😇 innocent,🥰 in_love,😍 heart_eyes,🤩 star_struck,😘 kissing_heart,😋 yum,😛 tongue,😜 wink_tongue,🤗 hug,\
            🤭 giggle,🤔 thinking,🤐 zipper,🤨 raised_eyebrow,😐 neutral,😑 expressionless,😶 no_mouth,😏 smirk,😒 unamused,\
            🙄 eye_roll,😬 grimace,😌 relieved,😔 pensive,😪 sleepy,😴 sleeping,😷 mask,🤒 ill,🤧 sneeze,🥵 hot,🥶 cold,😵 dizzy,\
            🤯 mind_blown,🤠 cowboy,🥳 party,😎 sunglasses,🤓 nerd,😕 confused,😟 worried,🙁 frown,😮 open_mouth,😲 astonished,\
            😳 flushed,🥺 pleading,😨 fearful,😰 anxious,😥 sad_relieved,😢 cry,😭 sob,😱 scream,😖 confounded,😞 disappointed,\
            😓 sweat,😩 weary,🥱 yawn,😤 triumph,😡 rage,😠 angry,🤬 swearing,😈 imp,💀 skull,💩 poop,🤡 clown,👻 ghost,👽 alien,\
            🤖 robot
            """
        ),
        (
            "people",
            """
            👋 wave,🤚 raised_back,✋ hand,👌 ok,🤌 pinched,✌️ victory,🤞 fingers_crossed,🤟 love_you,🤘 metal,🤙 call_me,👈 left,\
            👉 right,👆 point_up,👇 point_down,👍 thumbsup,👎 thumbsdown,✊ fist,👊 punch,👏 clap,🙌 raised_hands,👐 open_hands,\
            🤝 handshake,🙏 pray,✍️ writing,💪 muscle,👀 eyes,🧠 brain,👶 baby,👧 girl,👦 boy,👩 woman,👨 man,👵 grandma,👴 grandpa,\
            🙋 raising_hand,🤷 shrug,🤦 facepalm,💃 dancer,🏃 runner,🚶 walking,👨‍👩‍👧 family,🧑‍💻 technologist
            """
        ),
        (
            "nature",
            """
            🐶 dog,🐱 cat,🐭 mouse,🐹 hamster,🐰 rabbit,🦊 fox,🐻 bear,🐼 panda,🐯 tiger,🦁 lion,🐮 cow,🐷 pig,🐸 frog,🐵 monkey,\
            🐔 chicken,🐧 penguin,🐦 bird,🦅 eagle,🦉 owl,🐺 wolf,🐴 horse,🦄 unicorn,🐝 bee,🦋 butterfly,🐌 snail,🐢 turtle,🐍 snake,\
            🐙 octopus,🐟 fish,🐬 dolphin,🐳 whale,🌵 cactus,🌲 evergreen,🌴 palm,🌱 seedling,🍀 clover,🌸 blossom,🌹 rose,\
            🌻 sunflower,🌍 earth,🌙 moon,⭐ star,🌟 glowing_star,⚡ zap,🔥 fire,🌈 rainbow,☀️ sun,⛅ cloud,🌧️ rain,❄️ snowflake,\
            ☃️ snowman,💧 droplet,🌊 ocean
            """
        ),
        (
            "food",
            """
            🍏 apple,🍐 pear,🍊 orange,🍋 lemon,🍌 banana,🍉 watermelon,🍇 grapes,🍓 strawberry,🍒 cherries,🍑 peach,🥝 kiwi,\
            🍅 tomato,🥑 avocado,🥦 broccoli,🌽 corn,🥕 carrot,🥔 potato,🍞 bread,🥐 croissant,🧀 cheese,🥚 egg,🍳 cooking,🥓 bacon,\
            🍔 burger,🍟 fries,🍕 pizza,🌭 hotdog,🥪 sandwich,🌮 taco,🥗 salad,🍝 spaghetti,🍜 noodles,🍣 sushi,🥟 dumpling,🍚 rice,\
            🍦 ice_cream,🍰 cake,🎂 birthday,🍫 chocolate,🍿 popcorn,☕ coffee,🍵 tea,🧋 bubble_tea,🍺 beer,🍻 beers,🍷 wine,\
            🥂 cheers,🍹 cocktail
            """
        ),
        (
            "activities",
            """
            ⚽ soccer,🏀 basketball,🏈 football,🎾 tennis,🏐 volleyball,🏓 ping_pong,🏸 badminton,🥊 boxing,⛳ golf,🎣 fishing,\
            🎿 ski,🏂 snowboard,🚴 cyclist,🏊 swimmer,🚣 rowing,🧗 climbing,🏆 trophy,🥇 gold,🎯 dart,🎮 game,🎲 die,🧩 puzzle,🎨 art,\
            🎬 film,🎤 microphone,🎧 headphones,🎸 guitar,🎹 piano,🎻 violin,🎉 tada,🎈 balloon,🎁 gift,🎄 christmas_tree,\
            🧧 red_envelope,🏮 lantern
            """
        ),
        (
            "travel",
            """
            🚗 car,🚕 taxi,🚌 bus,🚲 bicycle,🛵 scooter,🚂 train,🚇 metro,✈️ plane,🚀 rocket,⛵ sailboat,🚢 ship,⚓ anchor,\
            🚦 traffic_light,🗺️ map,🏠 house,🏢 office,🏥 hospital,🏫 school,🏖️ beach,🏝️ island,⛰️ mountain,🏕️ camping,🌃 night,\
            🌅 sunrise,🗼 tower,🎡 ferris_wheel
            """
        ),
        (
            "objects",
            """
            ⌚ watch,📱 phone,💻 laptop,⌨️ keyboard,🖨️ printer,📷 camera,📺 tv,💡 bulb,🔋 battery,🔌 plug,💰 money,💳 card,🔧 wrench,\
            🔨 hammer,🔒 lock,🔑 key,📦 package,✉️ envelope,📧 email,📅 date,📌 pushpin,📎 paperclip,✂️ scissors,📝 memo,📚 books,\
            📈 chart_up,📉 chart_down,🔍 search,🧪 test_tube,💊 pill,🩺 stethoscope,🛒 cart,⏰ alarm,⏳ hourglass
            """
        ),
        (
            "symbols",
            """
            ❤️ heart,🧡 orange_heart,💛 yellow_heart,💚 green_heart,💙 blue_heart,💜 purple_heart,🖤 black_heart,💔 broken_heart,\
            💕 hearts,💯 hundred,✅ check,☑️ ballot,❌ x,❗ exclamation,❓ question,⚠️ warning,🚫 prohibited,♻️ recycle,➕ plus,\
            ➖ minus,💤 zzz,💬 speech,🔔 bell,🔕 no_bell,🎵 note,✨ sparkles,🔴 red,🟢 green,🔵 blue,🏁 finish
            """
        ),
    ]
}
