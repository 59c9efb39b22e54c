// Records the tokens that Hugging Face's tokenizers, in Rust and in JavaScript,
// make with Unigram, for the tests of this package.
//
// With Node 20, a copy of this folder, and RAGTEST_DATA set to the folder that
// holds data/ and models/:
//
//	npm install tokenizers@0.23.2 @huggingface/tokenizers@0.2.0
//	node record.mjs > record.json
//
// A variant replaces fields of tokenizer.json. Of each text, "rust" has the IDs
// that tokenizers gives and "js" those of @huggingface/tokenizers, if they are
// others: that one reads no charsmap, knows no byte fallback and no parts that
// Metaspace splits. A variant that it refuses has its reason in "refused". A hash
// is as in ../record/record.mjs.

import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Tokenizer as JavaScript } from "@huggingface/tokenizers";
const { Tokenizer: Rust } = createRequire(import.meta.url)("tokenizers");

const base = JSON.parse(readFileSync(new URL("tokenizer.json", import.meta.url), "utf8"));

// charsmap returns a precompiled_charsmap with the given rules: a double-array
// trie in the format of Darts-clone, and the replacements.
const charsmap = (rules) => {
  const root = { children: new Map() };
  const replacements = [];
  let length = 0;
  for (const [from, to] of rules) {
    let node = root;
    for (const byte of Buffer.from(from)) {
      if (!node.children.has(byte)) node.children.set(byte, { children: new Map() });
      node = node.children.get(byte);
    }
    node.value = length;
    const bytes = Buffer.from(to + "\0");
    replacements.push(bytes);
    length += bytes.length;
  }
  const units = [0];
  const used = new Set([0]);
  const place = (node, at) => {
    const labels = [...node.children.keys(), ...(node.value === undefined ? [] : [0])];
    let offset = 1;
    while (labels.some((label) => used.has(at ^ offset ^ label))) offset++;
    labels.forEach((label) => used.add(at ^ offset ^ label));
    units[at] = (units[at] ?? 0) | (offset << 10) | (node.value === undefined ? 0 : 1 << 8);
    if (node.value !== undefined) units[at ^ offset] = (0x80000000 | node.value) >>> 0;
    for (const [label, child] of node.children) {
      units[at ^ offset ^ label] = label;
      place(child, at ^ offset ^ label);
    }
  };
  place(root, 0);
  while (units.length % 256 !== 0 || [...used].some((at) => at >= units.length)) units.push(0);
  const trie = Buffer.alloc(4 + 4 * units.length);
  trie.writeUInt32LE(4 * units.length);
  for (let i = 0; i < units.length; i++) trie.writeUInt32LE(units[i] ?? 0, 4 + 4 * i);
  return Buffer.concat([trie, ...replacements]).toString("base64");
};
const rules = [
  ["\t", " "], ["\n", " "], ["\r", ""], ["\u00a0", " "], ["\u3000", " "], ["\u200b", " "], ["\u00ad", ""], ["\u2028", " "],
  ["ﬁ", "fi"], ["①", "1"], ["½", "1⁄2"], ["Ｒ", "R"], ["ａ", "a"], ["…", "..."], ["é", "e"], ["e\u0301", "é"], ["A\u0300", "À"],
  ["カ", "ｶ"], ["한", "han"], ["x", "X"], ["xy", "Z"], ["👍", "+1"],
];

const replace = (pattern, content) => ({ type: "Replace", pattern, content });
const sequence = (...normalizers) => ({ type: "Sequence", normalizers });
const metaspace = (prepend_scheme, split) => ({ type: "Metaspace", replacement: "▁", prepend_scheme, split });
const variants = [
  { name: "plain" },
  { name: "xlm-roberta", normalizer: sequence({ type: "Nmt" }, { type: "NFKC" }, replace({ Regex: " {2,}" }, " ")) },
  {
    name: "model2vec",
    normalizer: sequence(
      { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
      replace({ String: "." }, " . "),
      replace({ String: "," }, " , "),
      replace({ Regex: "\\s+" }, " "),
      { type: "Strip", strip_left: true, strip_right: true },
    ),
    pre_tokenizer: metaspace("always", false),
  },
  {
    name: "words",
    normalizer: sequence({ type: "NFD" }, { type: "Lowercase" }, { type: "StripAccents" }),
    pre_tokenizer: { type: "Sequence", pretokenizers: [{ type: "WhitespaceSplit" }, metaspace("always", true)] },
  },
  { name: "first", normalizer: { type: "NFC" }, pre_tokenizer: metaspace("first", true) },
  { name: "never", normalizer: { type: "NFKD" }, pre_tokenizer: metaspace("never", true) },
  { name: "legacy", pre_tokenizer: { type: "Metaspace", replacement: "▁", add_prefix_space: true } },
  {
    name: "whole",
    normalizer: sequence({ type: "Prepend", prepend: "▁" }, replace({ String: " " }, "▁"), replace({ Regex: "\\d+[\\s.,]" }, "1")),
    pre_tokenizer: null,
  },
  {
    name: "cased-bert",
    normalizer: { type: "BertNormalizer", clean_text: false, handle_chinese_chars: false, strip_accents: true, lowercase: false },
  },
  { name: "strip-right", normalizer: { type: "Strip", strip_left: false, strip_right: true } },
  { name: "charsmap", normalizer: { type: "Precompiled", precompiled_charsmap: charsmap(rules) } },
  { name: "bytes", byte_fallback: true },
  {
    name: "bytes-lacking", // some bytes are no tokens
    byte_fallback: true,
    without: ["<0x9F>", "<0xE2>"],
  },
];

const texts = [
  "",
  " ",
  "A retriever retrieves passages.",
  "  Two  spaces   three    ",
  "\t\n\t\nfoo\r\nbar \r",
  "Embeddings, chunkers & questions: retrieved 2026!",
  "Größere Zażółć élèves réponses mañana",
  "e\u0301le\u0300ves re\u0301ponses man\u0303ana Gro\u0308ßere a\u0308\u0323",
  "\u0301A\u0301B z\u0335\u0335\u0335\u0335 A\u0300",
  "检索系统根据问题检索文档。今天天气很好 未登录字鑫淼",
  "検索は文書を探すカタカナ。ｶﾀｶﾅ 검색은 문서를 한국어",
  "البحث يجد الوثائق شَكْل खोज दस्तावेज़ ไทย",
  "Поиск находит ответы. Ёлка и йод",
  "😀👩\u200d👩\u200d👧\u200d👦👍🏽🏳️\u200d🌈🇪🇺 \u{1d11e} \u{20000} 👍",
  "\u0000\u0001\u0007\u000b\u000c\u001c\u007f\u0085\u008f\u009f a\u0000b\u0007c",
  "\ufffd\ufffd zero\u200bwidth soft\u00adhyphen \u202eright \ufeffbom",
  "no\u00a0break\u3000ideographic\u2028line\u2029par\u205fmath\u1680ogham",
  "ﬁne ﬀ ①②③ ½ Ⅷ ＲａｇＴｅｓｔ １２３４ … ㎏ ｱ",
  "xyz xy x yx xxy",
  "retrieverretrievesretrievedpassagesquestionanswer".repeat(6),
  "x".repeat(90) + " " + "ab".repeat(60),
  "鑫".repeat(40),
  "▁already▁marked ▁ ▁▁x a▁ ▁",
  "<s> a </s> b<mask>c  <mask> d <unk><pad> <mask>",
  "<0x41> <0xE2>\u2603 <unk",
  "İstanbul DİYARBAKIR ΟΔΥΣΣΕΎΣ ǅ ß ẞ",
  "1, 22. 333\n4444 5",
  "\u{10ffff}\u{e000} \u{f0000}",
];

const file = join(mkdtempSync(join(tmpdir(), "unigram-")), "tokenizer.json");
const tokenizers = (json) => {
  writeFileSync(file, JSON.stringify(json));
  const rust = Rust.fromFile(file);
  const result = { rust: async (text) => (await rust.encode(text, null, { addSpecialTokens: false })).getIds() };
  try {
    const js = new JavaScript(json, {});
    result.js = (text) => js.encode(text, { add_special_tokens: false }).ids;
  } catch (error) {
    result.refused = error.message;
  }
  return result;
};

const varied = [];
for (const { name, byte_fallback, without, ...fields } of variants) {
  const json = { ...structuredClone(base), ...fields };
  if (byte_fallback) json.model.byte_fallback = true;
  for (const [id, [token]] of json.model.vocab.entries()) {
    if (without?.includes(token)) json.model.vocab[id][0] = token + "-";
  }
  const { rust, js, refused } = tokenizers(json);
  const ids = [];
  for (const text of texts) {
    const entry = { rust: await rust(text) };
    const other = js?.(text);
    if (other && JSON.stringify(other) !== JSON.stringify(entry.rust)) entry.js = other;
    ids.push(entry);
  }
  varied.push({ name, byte_fallback, without, refused, fields, ids });
}

const root = process.env.RAGTEST_DATA;
const model = JSON.parse(readFileSync(join(root, "models", "model2vec-bge-vq64", "tokenizer.json"), "utf8"));
const real = tokenizers(model);
const uint32 = (n) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(n);
  return bytes;
};
const digest = async (documents, of) => {
  const hash = createHash("sha256");
  let count = 0;
  for (const document of documents) {
    const ids = await of(document);
    count += ids.length;
    [ids.length, ...ids].forEach((n) => hash.update(uint32(n)));
  }
  return { count, sha256: hash.digest("hex") };
};
const corpora = [];
for (const language of ["en", "zh", "ar"]) {
  const corpus = `xquad/xquad.${language}.json`;
  const squad = JSON.parse(readFileSync(join(root, "data", corpus), "utf8"));
  const documents = squad.data.flatMap((article) => article.paragraphs.map((p) => p.context));
  corpora.push({ corpus, rust: await digest(documents, real.rust), js: await digest(documents, real.js) });
}

const lines = (records, indent) => records.map((record) => indent + JSON.stringify(record)).join(",\n");
process.stdout.write(`{
  "made by": "tokenizers 0.23.2, @huggingface/tokenizers 0.2.0",
  "texts": [
${lines(texts, "    ")}
  ],
  "variants": [
${varied
  .map(({ ids, ...variant }) => `    ${JSON.stringify(variant).slice(0, -1)},"ids":[\n${lines(ids, "      ")}\n    ]}`)
  .join(",\n")}
  ],
  "corpora": [
${lines(corpora, "    ")}
  ]
}
`);
