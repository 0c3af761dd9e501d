package dev.flotilla.gguf.tokenizer;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Texts that tokenizers differ on: many scripts, code, emoji, blanks, digits, any Unicode. */
final class Corpus {
  private static final List<String> WRITTEN =
      List.of(
          "",
          " ",
          "Hello, world!",
          " Hello,  world!   How are   you?    ",
          "The quick brown fox jumps over the lazy dog. 0123456789",
          "I'm, you're, he'll, we've, they'd, it's, can't; I'M, YOU'RE, HE'LL, WE'VE, THEY'D, IT'S",
          "'s't're've'm'll'd 'S 'T 'RE 'Ve 'lL ' s ''s 'x 'é",
          "naïve café façade Ångström œuvre Straße İstanbul ǅ ﬁ ſ K",
          "Съешь же ещё этих мягких французских булок, да выпей чаю.",
          "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. ΌΣΟΣ",
          "これはペンです。東京都に行きました。カタカナ ﾊﾝｶｸ ー々〆",
          "我能吞下玻璃而不伤身体。繁體中文，標點符號：「」、！？",
          "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다.",
          "عندما يريد العالم أن يتكلّم، فهو يتحدّث بلغة يونيكود ١٢٣٤",
          "דג סקרן שט בים מאוכזב ולפתע מצא לו חברה",
          "ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश १२३",
          "আমার সোনার বাংলা, আমি তোমায় ভালোবাসি। ১২৩",
          "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน ๑๒๓",
          "சாலையில் மக்கள் நடந்தனர். ၁၂၃ ကမ္ဘာ ស្វាគមន៍ ᠮᠣᠩᠭᠣᠯ ⴰⵣⵓⵍ ᏣᎳᎩ",
          "Việt Nam: Tiếng Việt có dấu, e\u0301 a\u0308 n\u0303 (combining)",
          "😀 😃👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇫🇷 ❤️ ✨ ☃ ⌚️ #️⃣ 🧑🏿‍🚀",
          "1 12 123 1234 12345 123456 1234567 3.14159 1,000,000 0x1F 1e-10 ½ ² Ⅷ ① ٣٤٥ 1２3",
          "a1b22c333d4444 2024-01-02T03:04:05Z v1.2.3-rc.4 192.168.0.1",
          "def f(x):\n    return x ** 2  # square\n\n\nclass A:\n\tpass\n",
          "for (int i = 0; i < n; ++i) { a[i] += b[i] & 0xFF; } // done\r\n\r\n/* x */",
          "<html>\n  <body class=\"a\">&nbsp;<br/></body>\n</html>\n",
          "SELECT * FROM t WHERE a <> 'it''s' AND b >= 10 -- c\n;",
          "{\"key\": [1, 2.5, null, true], \"q\\\"uote\": \"\\u00e9\\n\"}",
          "#include <stdio.h>\nint main(void){printf(\"%d\\n\",1);return 0;}",
          "https://example.org/path?a=1&b=%20c#frag user@example.com C:\\dir\\file.txt",
          "$$ ++ <= >= ^^ ~~ || `code` @@ ## %% && ** (( )) [[ ]] {{ }} ;; ::",
          "!!! ??? ... --- ___ === *** \"\"\" ''' ,,, ¡¿ «» „“ ‘’ – — … • ™ © € £ ¥ ₿",
          "\n",
          "\n\n",
          "\n\n\n \n \n\n  \n",
          "a\nb\n\nc\n\n\nd \n e\n  f\r\ng\rh\t\ti \t j",
          "   leading",
          "trailing   ",
          "  both  ",
          "a  b   c    d     e      f",
          "tab\tseparated\t\tvalues\t \t mixed",
          "\u00a0no-break\u00a0 space\u2003em\u3000ideographic\u2028line\u2029para\u0085next\u000bvt\fff",
          "zero\u200bwidth\u200cjoin\u200der\ufeffbom\u00adshy \u202eRTL\u202c",
          "control\u0000\u0001\u0007\u001b[31m\u007f\u009f end \u001c\u001d\u001e\u001f",
          "<s> </s> <unk> <|im_start|>user\nHi<|im_end|>\n<|endoftext|><|im_end|",
          "<bos><start_of_turn>user\nHi<end_of_turn>\n<eos><unused7><unused77><pad>",
          "[INST] <<SYS>>\nsys\n<</SYS>>\n\n[/INST] <0x0A> <0xFF> <0x> ▁ ▁▁ ▁▁▁a",
          "<|<|im_end|>|> <|im_end|><|im_end|>  <|im_start|>  x  <|im_start|>",
          "<table><tr><td> </td></tr></table> <h1>x</h1> <b>bold</b>",
          "CamelCaseWords HTTPServer iPhone XMLHttpRequest éÀÉ éABC ABCé aBcDeF ÀÉÎabc Ǆabc",
          "Antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
          "ααα ßß ŋŋ ㄅㄆㄇ ꙮ 𝒳𝒴 𝔄𝔅 𐐷𐐷 𓀀𓀁 𠀀𠀁 \ud83d\ude00\ud83d\ude00",
          "a / b // c /// d \\ e\n/f\n//g /\n/ \r\n/",
          "\u0301\u0302combining first \u0e31 \u064b \u20e3 x\u0335",
          "No. 5 №5 ﷽ ﷺ ㍿ ㈱ ½⅓ ⁵ ₅ ⅓",
          "\ufffd\ufffe\uffff \ue000 \udb80\udc00 \u0378 \u05ff unassigned and private");

  private static final String[] PIECES = {
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "'s",
    "'LL",
    "'",
    "\"",
    ".",
    "...",
    "!",
    "a",
    "the",
    " The",
    "Ab",
    "é",
    "ß",
    "ж",
    "中",
    "文字",
    "가",
    "ا",
    "ก",
    "😀",
    "👩‍👧",
    "1",
    "12",
    "123",
    "٣",
    "½",
    "_",
    "-",
    "--",
    "=",
    "==",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    "</",
    "/",
    "\\",
    "#",
    "$",
    "%",
    "&",
    "@",
    "^",
    "~",
    "`",
    "|",
    "+",
    "\u00a0",
    "\u3000",
    "\u2028",
    "\u0301",
    "\u200d",
    "▁",
    "<|im_end|>",
    "<s>",
    "<bos>",
    "\u0000",
    "\u001c",
    "İ",
    "ǅ",
    "K",
    "Ⅷ",
    "_a",
    "X",
    "xY",
    "0x",
    ",",
    ";",
    ":"
  };

  private Corpus() {}

  /** All texts: the written ones, pieces of them thrown together, and any characters. */
  static List<String> texts() {
    List<String> texts = new ArrayList<>(WRITTEN);
    Random random = new Random(20260103);
    for (int i = 0; i < 1500; i++) {
      StringBuilder text = new StringBuilder();
      for (int n = random.nextInt(1, 24); n > 0; n--) {
        text.append(PIECES[random.nextInt(PIECES.length)]);
      }
      texts.add(text.toString());
    }
    for (int i = 0; i < 500; i++) {
      StringBuilder text = new StringBuilder();
      for (int n = random.nextInt(1, 40); n > 0; n--) {
        text.appendCodePoint(anyCharacter(random));
      }
      texts.add(text.toString());
    }
    texts.add("a".repeat(5_000));
    texts.add(" ".repeat(3_000) + "x");
    texts.add("ab ".repeat(2_000));
    texts.add("1".repeat(1_000));
    texts.add("\n".repeat(999) + " \n");
    texts.add(String.join(" ", WRITTEN));
    return texts;
  }

  /** A character of a random plane and block, assigned in Unicode 15 or before. */
  private static int anyCharacter(Random random) {
    while (true) {
      int point =
          switch (random.nextInt(6)) {
            case 0 -> random.nextInt(0x80);
            case 1 -> random.nextInt(0x250);
            case 2 -> random.nextInt(0x3000);
            case 3 -> random.nextInt(0x10000);
            case 4 -> random.nextInt(0x1f000, 0x1fb00);
            default -> random.nextInt(0x20000);
          };
      int type = Character.getType(point);
      if (type != Character.SURROGATE && type != Character.UNASSIGNED) {
        return point;
      }
    }
  }
}
