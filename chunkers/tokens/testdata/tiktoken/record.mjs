// Records the IDs that OpenAI's tiktoken gives for the real corpora and for
// hostile texts, for the tests of this package. The npm package tiktoken is
// OpenAI's implementation in Rust, compiled to WebAssembly, with its vocabularies
// and expressions.
//
// With Node 20, a copy of this file in an empty folder, and RAGTEST_DATA set to
// the folder that holds data/:
//
//	npm install tiktoken@1.0.22
//	node record.mjs > tiktoken.json
//
// and tiktoken.json belongs in chunkers/tokens/testdata.
//
// A hash is the SHA-256 of, for each text in order, the number of its tokens and
// their IDs, as 32-bit little-endian numbers.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { get_encoding } from "tiktoken";

const encodings = { CL100K: get_encoding("cl100k_base"), O200K: get_encoding("o200k_base") };
const encode = (name, text) => encodings[name].encode_ordinary(text); // a Uint32Array
const ids = (name, text) => [...encode(name, text)];

// digests returns the digest in each encoding of texts, which returns an iterator.
const digests = (texts) => {
  const result = {};
  for (const name of Object.keys(encodings)) {
    const hash = createHash("sha256");
    let count = 0;
    for (const text of texts()) {
      const tokens = encode(name, text);
      count += tokens.length;
      hash.update(Buffer.from(Uint32Array.of(tokens.length).buffer)).update(Buffer.from(tokens.buffer, tokens.byteOffset, tokens.byteLength));
    }
    result[name] = { count, sha256: hash.digest("hex") };
  }
  return result;
};

// Every file of the data, as one text.
const files = readdirSync(join(process.env.RAGTEST_DATA, "data"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(join(process.env.RAGTEST_DATA, "data").length + 1))
  .sort();
const file = (name) => readFileSync(join(process.env.RAGTEST_DATA, "data", name), "utf8");
const paragraphs = (name) => JSON.parse(file(name)).data.flatMap((article) => article.paragraphs.map((p) => p.context));

// One of each kind of thing that the expressions treat alike or apart.
const alphabet = [
  "a", "Z", "s", "S", "t", "T", "re", "Re", "VE", "ll", "lL", "m", "D", "é", "É", "ß", "ſ", "K", "ǅ", "ʰ", "ª", "中", "あ", "한", "א", "ع", "ไ",
  "\u0301", "\u0903", "\u20dd", "\u{e0100}", "1", "23", "½", "Ⅷ", "٣", "²", "𝟘",
  " ", "  ", "\t", "\n", "\r", "\r\n", "\n\n", "\u000b", "\u000c", "\u0085", "\u00a0", "\u1680", "\u2003", "\u2028", "\u202f", "\u3000",
  "'", "’", "!", "...", "/", "_", "-", "$", "。", "\u200b", "\u200d", "\ufeff", "\u180e", "\u0000", "\u00ad", "\ufffd", "😀", "👨‍👩‍👧", "🇩🇪", "❤️", "👍🏽", "<|endoftext|>",
];

// xorshift32, the same in Go.
let state = 2463534242;
const random = (n) => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  state >>>= 0;
  return state % n;
};
const randomTexts = [];
for (let i = 0; i < 50000; i++) {
  let text = "";
  for (let n = 4 + random(20); n > 0; n--) text += alphabet[random(alphabet.length)];
  randomTexts.push(text);
}

// The texts by which a character is known.
const probe = (c) => `x${c}x${c}${c}X ${c}a'${c}t${c}\n${c}`;

// Characters that Unicode has assigned since version 15.0, which Go 1.26 has.
const newer = `
  88f 897 c5c cdc 1acf-1add 1ae0-1aeb 1b4e-1b4f 1b7f 1c89-1c8a 20c1 2427-2429 2b96 2ffc-2fff 31e4-31e5
  31ef a7cb-a7cf a7d2 a7d4 a7da-a7dc a7f1 fbc3-fbd2 fd90-fd91 fdc8-fdce 105c0-105f3 10940-10959
  10d40-10d65 10d69-10d85 10d8e-10d8f 10ec2-10ec7 10ed0-10ed8 10efa-10efc 11380-11389 1138b 1138e
  11390-113b5 113b7-113c0 113c2 113c5 113c7-113ca 113cc-113d5 113d7-113d8 113e1-113e2 116d0-116e3
  11b60-11b67 11bc0-11be1 11bf0-11bf9 11db0-11ddb 11de0-11de9 11f5a 13460-143fa 16100-16139
  16d40-16d79 16ea0-16eb8 16ebb-16ed3 16ff2-16ff6 187f8-187ff 18cff 18d09-18d1e 18d80-18df2
  1cc00-1ccfc 1cd00-1ceb3 1ceba-1ced0 1cee0-1cef0 1e5d0-1e5fa 1e5ff 1e6c0-1e6de 1e6e0-1e6f5
  1e6fe-1e6ff 1f6d8 1f777-1f77a 1f8b2-1f8bb 1f8c0-1f8c1 1f8d0-1f8d8 1fa54-1fa57 1fa89-1fa8a
  1fa8e-1fa8f 1fabe 1fac6 1fac8 1facd 1fadc 1fadf 1fae9-1faea 1faef 1fbcb-1fbef 1fbfa 2b73a-2b73f
  2cea2-2cead 2ebf0-2ee5d 323b0-33479
`.trim().split(/\s+/).map((range) => range.split("-").map((c) => parseInt(c, 16)));

// Blocks of characters that Unicode 15.0 assigns, but for private use.
const blocks = [];
for (let block = 0; block < 0x110000; block += 0x400) {
  const texts = [];
  for (let c = block; c < block + 0x400; c++) {
    const character = String.fromCodePoint(c);
    if (/[^\p{Cn}\p{Co}\p{Cs}]/u.test(character) && !newer.some(([low, high = low]) => low <= c && c <= high)) texts.push(probe(character));
  }
  if (texts.length > 0) blocks.push({ block, characters: texts.length, ...digests(() => texts) });
}

const texts = [
  "'s 'S 'ſ 't 'T 're 'rE 'Re 'RE 'rr 've 'Ve 'll 'lL 'l 'd 'D 'm 'M 'n",
  "it's IT'S it'ſ IT'ſT we'RE we'Re don't DON'T ''s '' 's's's x'",
  "I'll'll they've'd 'tis o'clock rock'n'roll ’s it’s",
  "caſe 'ſſ 'ſ\u0301 'ſt",
  "camelCaseHTTPServer XMLHttpRequest aB Ab ABc abC ǅǅa ʰAʰa ªAª 中A中a A中 a中A",
  "e\u0301e\u0301 E\u0301a \u0301a \u0301\u0301A a\u0301'S \u0903क्षि क्षत्रिय हिन्दी ไทยภาษา",
  "123456789 1234 ½½½½ ⅧⅧⅧⅧ ٣٣٣٣ 1²3⁴ 𝟘𝟙𝟚𝟛 1,234,567.89 0x1F 1e9",
  "a\r\nb\rc\n\rd\r\r\ne \r\n f\t\n\tg\n \n\n  \n   h",
  "\r\n\r\n \r\n\t\r\n", "  \n  \n", "  \n  \n  ", "a\n  ", "a \n", "a\u3000\u3000b", "\u00a0\u00a0a\u0085\u0085b\u2028\u2029c",
  "a  b   c    d     e", " ", "  ", "\t\ta", "\u180ea", "\ufeffa \ufeff", "a\u200bb \u200bc", "\u0000 \u0000\u0000a",
  "!!!\n\n??/\n// /\r\n/ ...\r\r... !a ! a", "://www.example.com/a/b?c=d&e=%20#f", "/// //\n/ \n/",
  "👨‍👩‍👧‍👦👨‍👩‍👧 👍🏽 🇩🇪🇫🇷 ❤️❤ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 a👍b 👍 👍", "\ufffd\ufffd a\ufffdb", "<|endoftext|><|fim_prefix|> <|endofprompt|>",
  "中文字符，測試。日本語のテキスト、カタカナ 한국어 문장 中A文b", "العَرَبِيَّة مرحبا ١٢٣", "עִבְרִית שלום", "ʼn ﬁ ǆ Ǆ ǅ İi ıI",
  "a_b__c___d -- --- _a -a +a $a €a ¥1 a$b", "{\"a\":[1,2,{\"b\":null}]}", "for (i = 0; i < n; i++) {\n\t\tx[i] += 1;\n\t}\n",
];
const long = ["a", "A", "1", " ", "\n", " \n", "\n ", "\t", "é", "中", "\u0301", "e\u0301", "!", "'s", "=", "ab", "aA", "\u3000", "👍", "<|endoftext|>"];

const list = (values) => `[\n${values.map((value) => `    ${JSON.stringify(value)}`).join(",\n")}\n  ]`;
console.log(`{
  "texts": ${list(texts.map((text) => ({ text, CL100K: ids("CL100K", text), O200K: ids("O200K", text) })))},
  "long": ${list(long.map((text) => ({ text, repeat: 3000, ...digests(() => [text.repeat(3000)]) })))},
  "alphabet": ${JSON.stringify(alphabet)},
  "triples": ${list(
    alphabet.map((a) => ({
      first: a,
      ...digests(function* () {
        for (const b of alphabet) for (const c of alphabet) yield a + b + c;
      }),
    })),
  )},
  "random": ${JSON.stringify({ texts: randomTexts.length, ...digests(() => randomTexts) })},
  "newer": ${JSON.stringify(newer)},
  "characters": ${list(blocks)},
  "files": ${list(files.map((name) => ({ file: name, ...digests(() => [file(name)]) })))},
  "paragraphs": ${list(files.filter((name) => /^(squad|xquad).*json$/.test(name)).map((name) => ({ file: name, ...digests(() => paragraphs(name)) })))}
}`);
