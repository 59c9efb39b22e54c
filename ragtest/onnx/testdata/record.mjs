// Records what Hugging Face's tokenizers make of XQuAD's questions and contexts
// for a BERT model: with special tokens, contexts alone and after their question,
// as a cross-encoder reads them. And what is left of pairs that are too long.
//
// With Node 20, a copy of this file in an empty folder, and RAGTEST_DATA set to
// the folder that holds data/ and models/:
//
//	npm install @huggingface/tokenizers@0.2.0 tokenizers@0.23.2
//	node record.mjs > record.json
//
// and record.json belongs in ragtest/onnx/testdata.
//
// A hash is the SHA-256 of, for each text or pair in order, the number of its
// tokens, their IDs, and the number of each one's segment, all in 32 bits,
// little-endian. The line for a maximum of tokens has, for each length of the first
// text from 0 to 7 tokens and of the second from 0 to 7, two digits: how many
// tokens of each are left.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";

const { Tokenizer: RustTokenizer } = createRequire(import.meta.url)("tokenizers");

const root = process.env.RAGTEST_DATA;
const model = join(root, "models", "bert-base-uncased-tokenizer", "tokenizer.json");
const bert = new Tokenizer(JSON.parse(readFileSync(model, "utf8")), {});

const digest = (encodings) => {
  const hash = createHash("sha256");
  let tokens = 0;
  for (const { ids, token_type_ids } of encodings) {
    tokens += ids.length;
    hash.update(Buffer.from(Uint32Array.from([ids.length, ...ids, ...token_type_ids]).buffer));
  }
  return { tokens, sha256: hash.digest("hex") };
};

const records = [];
for (const language of ["en", "zh", "ar"]) {
  const { data } = JSON.parse(readFileSync(join(root, "data", "xquad", `xquad.${language}.json`), "utf8"));
  const contexts = [];
  const pairs = [];
  for (const paragraph of data.flatMap((article) => article.paragraphs)) {
    contexts.push(bert.encode(paragraph.context, { return_token_type_ids: true }));
    for (const { question } of paragraph.qas) {
      pairs.push(bert.encode(question, { text_pair: paragraph.context, return_token_type_ids: true }));
    }
  }
  records.push({ language, texts: "contexts", count: contexts.length, ...digest(contexts) });
  records.push({ language, texts: "pairs", count: pairs.length, ...digest(pairs) });
}

const truncations = [];
const rust = RustTokenizer.fromFile(model);
const [the, cat] = bert.encode("the cat", { add_special_tokens: false }).ids;
for (let max = 4; max <= 14; max++) {
  rust.setTruncation(max, { maxLength: max, strategy: "LongestFirst", direction: "right", stride: 0 });
  const left = [];
  for (let first = 0; first < 8; first++) {
    for (let second = 0; second < 8; second++) {
      const ids = (await rust.encode("the ".repeat(first), "cat ".repeat(second))).getIds();
      left.push([the, cat].map((word) => ids.filter((id) => id === word).length).join(""));
    }
  }
  truncations.push({ max, left: left.join(" ") });
}

process.stdout.write(`{
  "made by": "@huggingface/tokenizers 0.2.0, tokenizers 0.23.2",
  "inputs": [
${records.map((record) => "    " + JSON.stringify(record)).join(",\n")}
  ],
  "truncations": [
${truncations.map((record) => "    " + JSON.stringify(record)).join(",\n")}
  ]
}
`);
