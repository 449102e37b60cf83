// The emoji of the picker and their English and Chinese names, for `:name:` and for the search.

/**
 * The emoji of each group, as entries "emoji name Chinese" separated by commas. The key of a group is
 * also the key of its translated title.
 */
const DATA = {
  smileys: "😀 grinning 笑脸,😃 smiley 开心,😄 smile 大笑,😁 grin 咧嘴笑,😆 laughing 哈哈,😅 sweat_smile 苦笑,🤣 rofl 笑倒,😂 joy 笑哭,🙂 slight_smile 微笑,🙃 upside_down 倒脸,😉 wink 眨眼,😊 blush 害羞,😇 innocent 天使,🥰 in_love 爱意,😍 heart_eyes 花痴,🤩 star_struck 星星眼,😘 kissing_heart 飞吻,😋 yum 好吃,😛 tongue 吐舌,😜 wink_tongue 调皮,🤗 hug 抱抱,🤭 giggle 捂嘴笑,🤔 thinking 思考,🤐 zipper 闭嘴,🤨 raised_eyebrow 怀疑,😐 neutral 无语,😑 expressionless 面无表情,😶 no_mouth 沉默,😏 smirk 得意,😒 unamused 不屑,🙄 eye_roll 白眼,😬 grimace 尴尬,😌 relieved 放松,😔 pensive 失落,😪 sleepy 困,😴 sleeping 睡觉,😷 mask 口罩,🤒 ill 发烧,🤧 sneeze 打喷嚏,🥵 hot 热,🥶 cold 冷,😵 dizzy 晕,🤯 mind_blown 震惊,🤠 cowboy 牛仔,🥳 party 庆祝,😎 sunglasses 墨镜,🤓 nerd 书呆子,😕 confused 困惑,😟 worried 担心,🙁 frown 难过,😮 open_mouth 惊讶,😲 astonished 吃惊,😳 flushed 脸红,🥺 pleading 可怜,😨 fearful 害怕,😰 anxious 焦虑,😥 sad_relieved 伤心,😢 cry 流泪,😭 sob 大哭,😱 scream 尖叫,😖 confounded 纠结,😞 disappointed 失望,😓 sweat 冒汗,😩 weary 疲惫,🥱 yawn 哈欠,😤 triumph 哼,😡 rage 暴怒,😠 angry 生气,🤬 swearing 骂人,😈 imp 小恶魔,💀 skull 骷髅,💩 poop 便便,🤡 clown 小丑,👻 ghost 鬼,👽 alien 外星人,🤖 robot 机器人",
  people: "👋 wave 挥手,🤚 raised_back 手背,✋ hand 手掌,👌 ok 好的,🤌 pinched 捏手指,✌️ victory 胜利,🤞 fingers_crossed 祈祷好运,🤟 love_you 爱你,🤘 metal 摇滚,🤙 call_me 打电话,👈 left 左,👉 right 右,👆 point_up 上,👇 point_down 下,👍 thumbsup 赞,👎 thumbsdown 踩,✊ fist 拳头,👊 punch 出拳,👏 clap 鼓掌,🙌 raised_hands 举手庆祝,👐 open_hands 张开手,🤝 handshake 握手,🙏 pray 合十,✍️ writing 写字,💪 muscle 肌肉,👀 eyes 眼睛,🧠 brain 大脑,👶 baby 婴儿,👧 girl 女孩,👦 boy 男孩,👩 woman 女人,👨 man 男人,👵 grandma 奶奶,👴 grandpa 爷爷,🙋 raising_hand 举手,🤷 shrug 耸肩,🤦 facepalm 捂脸,💃 dancer 跳舞,🏃 runner 跑步,🚶 walking 走路,👨‍👩‍👧 family 家庭,🧑‍💻 technologist 程序员",
  nature: "🐶 dog 狗,🐱 cat 猫,🐭 mouse 老鼠,🐹 hamster 仓鼠,🐰 rabbit 兔子,🦊 fox 狐狸,🐻 bear 熊,🐼 panda 熊猫,🐯 tiger 老虎,🦁 lion 狮子,🐮 cow 牛,🐷 pig 猪,🐸 frog 青蛙,🐵 monkey 猴子,🐔 chicken 鸡,🐧 penguin 企鹅,🐦 bird 鸟,🦅 eagle 鹰,🦉 owl 猫头鹰,🐺 wolf 狼,🐴 horse 马,🦄 unicorn 独角兽,🐝 bee 蜜蜂,🦋 butterfly 蝴蝶,🐌 snail 蜗牛,🐢 turtle 乌龟,🐍 snake 蛇,🐙 octopus 章鱼,🐟 fish 鱼,🐬 dolphin 海豚,🐳 whale 鲸鱼,🌵 cactus 仙人掌,🌲 evergreen 松树,🌴 palm 棕榈,🌱 seedling 幼苗,🍀 clover 四叶草,🌸 blossom 樱花,🌹 rose 玫瑰,🌻 sunflower 向日葵,🌍 earth 地球,🌙 moon 月亮,⭐ star 星星,🌟 glowing_star 闪亮星星,⚡ zap 闪电,🔥 fire 火,🌈 rainbow 彩虹,☀️ sun 太阳,⛅ cloud 多云,🌧️ rain 下雨,❄️ snowflake 雪花,☃️ snowman 雪人,💧 droplet 水滴,🌊 ocean 海浪",
  food: "🍏 apple 苹果,🍐 pear 梨,🍊 orange 橙子,🍋 lemon 柠檬,🍌 banana 香蕉,🍉 watermelon 西瓜,🍇 grapes 葡萄,🍓 strawberry 草莓,🍒 cherries 樱桃,🍑 peach 桃子,🥝 kiwi 猕猴桃,🍅 tomato 番茄,🥑 avocado 牛油果,🥦 broccoli 西兰花,🌽 corn 玉米,🥕 carrot 胡萝卜,🥔 potato 土豆,🍞 bread 面包,🥐 croissant 牛角包,🧀 cheese 奶酪,🥚 egg 鸡蛋,🍳 cooking 煎蛋,🥓 bacon 培根,🍔 burger 汉堡,🍟 fries 薯条,🍕 pizza 披萨,🌭 hotdog 热狗,🥪 sandwich 三明治,🌮 taco 玉米卷,🥗 salad 沙拉,🍝 spaghetti 意大利面,🍜 noodles 面条,🍣 sushi 寿司,🥟 dumpling 饺子,🍚 rice 米饭,🍦 ice_cream 冰淇淋,🍰 cake 蛋糕,🎂 birthday 生日,🍫 chocolate 巧克力,🍿 popcorn 爆米花,☕ coffee 咖啡,🍵 tea 茶,🧋 bubble_tea 奶茶,🍺 beer 啤酒,🍻 beers 干杯啤酒,🍷 wine 红酒,🥂 cheers 碰杯,🍹 cocktail 鸡尾酒",
  activities: "⚽ soccer 足球,🏀 basketball 篮球,🏈 football 橄榄球,🎾 tennis 网球,🏐 volleyball 排球,🏓 ping_pong 乒乓球,🏸 badminton 羽毛球,🥊 boxing 拳击,⛳ golf 高尔夫,🎣 fishing 钓鱼,🎿 ski 滑雪,🏂 snowboard 滑雪板,🚴 cyclist 骑车,🏊 swimmer 游泳,🚣 rowing 划船,🧗 climbing 攀岩,🏆 trophy 奖杯,🥇 gold 金牌,🎯 dart 飞镖,🎮 game 游戏,🎲 die 骰子,🧩 puzzle 拼图,🎨 art 画画,🎬 film 电影,🎤 microphone 麦克风,🎧 headphones 耳机,🎸 guitar 吉他,🎹 piano 钢琴,🎻 violin 小提琴,🎉 tada 撒花,🎈 balloon 气球,🎁 gift 礼物,🎄 christmas_tree 圣诞树,🧧 red_envelope 红包,🏮 lantern 灯笼",
  travel: "🚗 car 汽车,🚕 taxi 出租车,🚌 bus 公交车,🚲 bicycle 自行车,🛵 scooter 摩托车,🚂 train 火车,🚇 metro 地铁,✈️ plane 飞机,🚀 rocket 火箭,⛵ sailboat 帆船,🚢 ship 轮船,⚓ anchor 船锚,🚦 traffic_light 红绿灯,🗺️ map 地图,🏠 house 房子,🏢 office 办公楼,🏥 hospital 医院,🏫 school 学校,🏖️ beach 沙滩,🏝️ island 海岛,⛰️ mountain 山,🏕️ camping 露营,🌃 night 夜晚,🌅 sunrise 日出,🗼 tower 铁塔,🎡 ferris_wheel 摩天轮",
  objects: "⌚ watch 手表,📱 phone 手机,💻 laptop 电脑,⌨️ keyboard 键盘,🖨️ printer 打印机,📷 camera 相机,📺 tv 电视,💡 bulb 灯泡,🔋 battery 电池,🔌 plug 插头,💰 money 钱,💳 card 银行卡,🔧 wrench 扳手,🔨 hammer 锤子,🔒 lock 锁,🔑 key 钥匙,📦 package 包裹,✉️ envelope 信封,📧 email 邮件,📅 date 日历,📌 pushpin 图钉,📎 paperclip 回形针,✂️ scissors 剪刀,📝 memo 备忘录,📚 books 书,📈 chart_up 上涨,📉 chart_down 下跌,🔍 search 搜索,🧪 test_tube 试管,💊 pill 药,🩺 stethoscope 听诊器,🛒 cart 购物车,⏰ alarm 闹钟,⏳ hourglass 沙漏",
  symbols: "❤️ heart 爱心,🧡 orange_heart 橙心,💛 yellow_heart 黄心,💚 green_heart 绿心,💙 blue_heart 蓝心,💜 purple_heart 紫心,🖤 black_heart 黑心,💔 broken_heart 心碎,💕 hearts 两颗心,💯 hundred 满分,✅ check 对勾,☑️ ballot 选中,❌ x 错误,❗ exclamation 感叹号,❓ question 问号,⚠️ warning 警告,🚫 prohibited 禁止,♻️ recycle 回收,➕ plus 加号,➖ minus 减号,💤 zzz 睡着,💬 speech 对话,🔔 bell 铃铛,🔕 no_bell 静音,🎵 note 音符,✨ sparkles 闪光,🔴 red 红色,🟢 green 绿色,🔵 blue 蓝色,🏁 finish 终点",
};

/** The groups: [{ key, items: [{ face, name, zh }] }]. */
export const EMOJI = Object.entries(DATA).map(([key, list]) => ({
  key,
  items: list.split(",").map((entry) => {
    const [face, name, zh] = entry.split(" ");
    return { face, name, zh };
  }),
}));

const ALL = EMOJI.flatMap((group) => group.items);
const BY_NAME = new Map([...ALL.map((item) => [item.zh, item.face]), ...ALL.map((item) => [item.name, item.face]), ["+1", "👍"], ["-1", "👎"], ["love", "❤️"], ["lol", "😂"]]);

/**
 * Returns at most `limit` emoji, 8 by default, whose English or Chinese name contains each word of
 * `text`. Names that begin with the first word precede the others.
 */
export function findEmoji(text, limit = 8) {
  const words = text.toLowerCase().split(/[\s_]+/).filter(Boolean);
  const found = ALL.filter(({ name, zh }) => words.every((word) => name.includes(word) || zh.includes(word)));
  const rank = ({ name, zh }) => (name.startsWith(words[0]) || zh.startsWith(words[0]) ? 0 : 1);
  return found.sort((one, other) => rank(one) - rank(other)).slice(0, limit);
}

/** Replaces each known `:name:` by its emoji. */
export function replaceShortcodes(text) {
  return text.replace(/[:：]([a-z0-9_+-]{1,24}|\p{Script=Han}{1,6})[:：]/gu, (whole, name) => BY_NAME.get(name) ?? whole);
}

const ONLY_EMOJI = /^(?:\p{Extended_Pictographic}|\p{Emoji_Component}|\s)+$/u;

/** Returns whether a text consists of one to three emoji. */
export function isBigEmoji(text) {
  if (text.length > 40 || !ONLY_EMOJI.test(text) || /^[\d\s#*]+$/.test(text)) return false;
  const parts = typeof Intl.Segmenter === "function" ? [...new Intl.Segmenter().segment(text.replace(/\s/g, ""))].length : [...text].length;
  return parts >= 1 && parts <= 3;
}

export const QUICK_REACTIONS = ["👍", "❤️", "😂", "🎉", "😮", "😢"];
