// Records what js-tiktoken, Hugging Face's tokenizers and LangChain's splitters
// make of the corpora and of a few short texts, for the tests of this package.
//
// With Node 20, a copy of this file in an empty folder, and RAGTEST_DATA set to
// the folder that holds data/ and models/:
//
//	npm install @langchain/textsplitters@1.0.2 @langchain/core@1.2.13 js-tiktoken@1.0.21 @huggingface/tokenizers@0.2.0
//	node record.mjs > record.json
//
// and record.json belongs in chunkers/tokens/testdata.
//
// A hash is the SHA-256 of what is counted, for each document in order: the
// number of numbers or chunks, and then each number, or of each chunk the number
// of bytes of its text in UTF-8 and those bytes. Numbers are 32-bit and
// little-endian.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RecursiveCharacterTextSplitter, TokenTextSplitter } from "@langchain/textsplitters";
import { Tokenizer } from "@huggingface/tokenizers";
import { Tiktoken } from "js-tiktoken/lite";
import cl100k from "js-tiktoken/ranks/cl100k_base";
import o200k from "js-tiktoken/ranks/o200k_base";

const root = process.env.RAGTEST_DATA;
const corpora = [
  ...["chatlogs", "finance", "pubmed", "state_of_the_union", "wikitexts"].map((name) => `chroma/corpora/${name}.md`),
  ...["en", "zh", "ar"].map((language) => `xquad/xquad.${language}.json`),
].map((corpus) => {
  const file = readFileSync(join(root, "data", corpus), "utf8");
  const documents = corpus.endsWith(".md")
    ? [file]
    : JSON.parse(file).data.flatMap((article) => article.paragraphs.map((p) => p.context));
  return { corpus, documents };
});

const encodings = { cl100k: new Tiktoken(cl100k), o200k: new Tiktoken(o200k) };
for (const encoding of Object.values(encodings)) {
  encoding.textDecoder = new TextDecoder("utf-8", { ignoreBOM: true }); // or windows lose U+FEFF
}
const encode = (name, text) => encodings[name].encode(text, [], []); // nothing is special
const tokenLengths = (name, text) => encode(name, text).map((id) => encodings[name].textMap.get(id).length);

const model = join(root, "models", "bert-base-uncased-tokenizer", "tokenizer.json");
const bert = new Tokenizer(JSON.parse(readFileSync(model, "utf8")), {});
const wordpieces = (text) => bert.encode(text, { add_special_tokens: false }).ids;

const uint32 = (n) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(n);
  return bytes;
};
const digest = (documents, of) => {
  const hash = createHash("sha256");
  let count = 0;
  for (const items of documents.map(of)) {
    count += items.length;
    hash.update(uint32(items.length));
    for (const item of items) {
      if (typeof item === "number") {
        hash.update(uint32(item));
      } else {
        const bytes = Buffer.from(item);
        hash.update(uint32(bytes.length)).update(bytes);
      }
    }
  }
  return { count, sha256: hash.digest("hex") };
};

const texts = [
  "",
  " ",
  "Hello, world! It's 2026; they've DON'T we'LL I'm he'd.",
  " \n \n \n",
  "a  \n\n b",
  "\t\n\t\nfoo",
  "  two  spaces   three    ",
  "\r\n\r\n  \r\n x",
  "\u00a0no-break\u3000ideographic\u2028line separator",
  "\v\f\x1c\x1d a\u0000b\u0007c",
  "1234567 3.14159 ١٢٣٤٥ １２３４ Ⅷ½²³",
  "// comment\n/\n path/to/file\n\n",
  "$%^&*()_+ <|endoftext|> ... ?!\n\n\nNext",
  "CamelCase HTTPServer iPhone XMLHttpRequest snake_case ABCdef",
  "ǅungla ʰaspirated ªº",
  "naïve café Zażółć gęślą jaźń Größe Œuvre ἀρχή",
  "e\u0301e\u0301 a\u0308\u0323 z\u0335\u0335\u0335\u0335 \u0301A\u0301B",
  "今天天气很好。我们去公园散步，看见了许多花。",
  "吾輩は猫である。カタカナ 한국어 문장입니다. 가각",
  "शिक्षा अनुच्छेद ไม่มีช่องว่าง مرحبا بالعالم שלום",
  "😀👩\u200d👩\u200d👧\u200d👦👍🏽🏳️\u200d🌈🇪🇺 \u{1d11e} \u{20000}",
  "\ufffd\ufffd zero\u200bwidth soft\u00adhyphen \u202eright",
  "supercalifragilisticexpialidocious antidisestablishmentarianism",
  "x".repeat(100) + " " + "x".repeat(101) + " " + "ab".repeat(300),
  "[CLS] a [SEP] b[MASK]c [sep] [UNK][PAD]",
  "unaffable ##able un##able",
  "don't 'stop 've ''s 'S o'clock",
  "İstanbul DİYARBAKIR ß ﬁ Ω ",
];

const bySize = (list) => list.flatMap((size) => [[size, 0], [size, size / 2]]);
const separatorLists = {
  default: ["\n\n", "\n", ". ", " ", ""],
  langchain: ["\n\n", "\n", " ", ""],
};

// The measured lengths of texts are remembered: they occur often.
const measured = {};
const lengthIn = (name) => {
  const known = (measured[name] ??= new Map());
  return (text) => {
    if (!known.has(text)) {
      known.set(text, encode(name, text).length);
    }
    return known.get(text);
  };
};

const tokens = [];
const recursive = [];
const windows = [];
for (const { corpus, documents } of corpora) {
  for (const encoding of Object.keys(encodings)) {
    tokens.push({ corpus, encoding, ...digest(documents, (text) => tokenLengths(encoding, text)) });
  }
  tokens.push({ corpus, encoding: "bert", ...digest(documents, wordpieces) });

  for (const [list, separators] of Object.entries(separatorLists)) {
    for (const [size, overlap] of bySize([200, 400])) {
      const splitter = new RecursiveCharacterTextSplitter({
        chunkSize: size,
        chunkOverlap: overlap,
        separators,
        lengthFunction: lengthIn("cl100k"),
      });
      const chunks = new Map();
      for (const text of documents) {
        chunks.set(text, await splitter.splitText(text));
      }
      recursive.push({ corpus, size, overlap, separators, ...digest(documents, (text) => chunks.get(text)) });
    }
  }

  for (const encoding of Object.keys(encodings)) {
    for (const [size, overlap] of bySize([50, 200])) {
      const splitter = new TokenTextSplitter({ chunkSize: size, chunkOverlap: overlap, disallowedSpecial: [] });
      splitter.tokenizer = encodings[encoding]; // it would download its own
      const chunks = new Map();
      for (const text of documents) {
        const split = await splitter.splitText(text);
        chunks.set(text, wholeCharacters(text, encoding, size - overlap, split));
      }
      windows.push({ corpus, encoding, size, overlap, ...digest(documents, (text) => chunks.get(text)) });
    }
  }
}

// wholeCharacters returns the windows without the U+FFFD that stand for parts
// of characters at their ends: the rest of a character that began in the window
// before is left out, one that ends in the window after is completed.
function wholeCharacters(text, encoding, step, split) {
  const bytes = Buffer.from(text);
  const ends = [0];
  for (const length of tokenLengths(encoding, text)) {
    ends.push(ends.at(-1) + length);
  }
  const continues = (i) => i < bytes.length && (bytes[i] & 0xc0) === 0x80;
  return split.map((chunk, i) => {
    let start = ends[i * step];
    const decoded = Buffer.from(chunk);
    let lead = 0; // bytes of the U+FFFD at the start, one for each byte without its character
    for (; continues(start); start++) {
      lead += 3;
    }
    let end = start + decoded.length - lead;
    let whole = decoded.subarray(lead);
    if (chunk.endsWith("\ufffd") && bytes.compare(whole, 0, whole.length, start, end) !== 0) {
      whole = whole.subarray(0, whole.length - 3);
      end = start + whole.length + 1;
      while (continues(end)) {
        end++;
      }
      whole = Buffer.concat([whole, bytes.subarray(start + whole.length, end)]);
    }
    if (bytes.compare(whole, 0, whole.length, start, end) !== 0) {
      throw new Error(`window ${i} is ${JSON.stringify(chunk)}, which is not what the text has there`);
    }
    return whole.toString();
  });
}

const odd = texts.map((text) => ({
  text,
  cl100k: tokenLengths("cl100k", text),
  o200k: tokenLengths("o200k", text),
  bert: wordpieces(text),
}));

const lines = (records) => records.map((record) => "    " + JSON.stringify(record)).join(",\n");
process.stdout.write(`{
  "made by": "js-tiktoken 1.0.21, @huggingface/tokenizers 0.2.0, @langchain/textsplitters 1.0.2",
  "texts": [
${lines(odd)}
  ],
  "tokens": [
${lines(tokens)}
  ],
  "recursive": [
${lines(recursive)}
  ],
  "windows": [
${lines(windows)}
  ]
}
`);
