// Records what LangChain's RecursiveCharacterTextSplitter makes of the corpora
// and of a few short texts, for the tests of chunkers.RecursiveCharacter.
//
// With Node 20, a copy of this file in an empty folder, and RAGTEST_DATA set to
// the folder that holds data/:
//
//	npm install @langchain/textsplitters@1.0.2 @langchain/core@1.2.13
//	node split.mjs > langchain.json
//
// and langchain.json belongs in chunkers/testdata.
//
// A record of a corpus holds the number of chunks and a SHA-256 over, for each
// of its documents in order, the number of chunks and then, for each chunk, the
// number of bytes of its text in UTF-8 and those bytes. The numbers are 32-bit
// and little-endian. Without keepSeparator, LangChain puts one separator between
// the parts of a chunk, however many there are in the text: there a run of one
// separator counts as one for the hash. Nor does it then count separators where
// chunks overlap: records without keepSeparator have no overlap.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RecursiveCharacterTextSplitter } from "@langchain/textsplitters";

const data = join(process.env.RAGTEST_DATA, "data");

const chroma = ["chatlogs", "finance", "pubmed", "state_of_the_union", "wikitexts"].map((name) => ({
  corpus: `chroma/corpora/${name}.md`,
  documents: (file) => [file],
}));
const xquad = ["en", "zh", "ar"].map((language) => ({
  corpus: `xquad/xquad.${language}.json`,
  documents: (file) => JSON.parse(file).data.flatMap((article) => article.paragraphs.map((p) => p.context)),
}));

const langchain = ["\n\n", "\n", " ", ""];
const ours = ["\n\n", "\n", ". ", " ", ""];
const lengths = {
  characters: (text) => text.length, // nothing in the corpora is above U+FFFF
  bytes: (text) => Buffer.byteLength(text),
  letters: (text) => text.replace(/[^a-z]/g, "").length, // 0 for many parts
};

const split = (text, { size, overlap, separators, length, keep }) =>
  new RecursiveCharacterTextSplitter({
    chunkSize: size,
    chunkOverlap: overlap,
    separators,
    keepSeparator: keep === "start",
    lengthFunction: lengths[length],
  }).splitText(text);

const runsAsOne = (text) => text.replace(/(\. )+/g, ". ").replace(/ +/g, " ").replace(/\n+/g, "\n");

const uint32 = (n) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(n);
  return bytes;
};

const hashed = async (documents, settings) => {
  const hash = createHash("sha256");
  let count = 0;
  for (const text of documents) {
    const chunks = await split(text, settings);
    count += chunks.length;
    hash.update(uint32(chunks.length));
    for (const chunk of chunks) {
      const bytes = Buffer.from(settings.keep === "start" ? chunk : runsAsOne(chunk));
      hash.update(uint32(bytes.length)).update(bytes);
    }
  }
  return { ...settings, chunks: count, sha256: hash.digest("hex") };
};

const corpora = [];
for (const { corpus, documents } of [...chroma, ...xquad]) {
  const texts = documents(readFileSync(join(data, corpus), "utf8"));
  for (const separators of [langchain, ours]) {
    for (const size of [200, 400, 800]) {
      for (const length of Object.keys(lengths)) {
        for (const overlap of [0, size / 2]) {
          corpora.push({ corpus, ...(await hashed(texts, { size, overlap, separators, length, keep: "start" })) });
        }
      }
      corpora.push({ corpus, ...(await hashed(texts, { size, overlap: 0, separators, length: "characters", keep: "none" })) });
    }
  }
}

const texts = {
  prose:
    "The harbour froze in January. Ferries stopped.  Two of them, the Aurora and the Grey Seal, " +
    "lay at the quay until March!\n\nWhen the ice broke, nobody was there to see it. The clerk wrote: " +
    "\"open water\".\n\n\n\nShort.\n\nA last paragraph, which has a line\nbreak in it and goes on\nfor a while. End.",
  newlines: "one\n\n\ntwo\n\n\n\n\nthree\n \n\nfour\n",
  triple: "Log\n\n\nIn\n May.\n\n\nOut\n \n\n\nThe\nice ",
  unbroken: "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".repeat(2),
  spaces: "   leading and    inner     spaces            a line of them:                             end   ",
  windows: "Dear all,\r\n\r\nthe file has CRLF line ends.\r\nIt always had.\r\n\r\n\r\nRegards\r\n",
  accents: "Zażółć gęślą jaźń. Çok güzel bir gün! Größe, Œuvre, naïveté; ἀρχή ἥμισυ παντός. Съешь ещё этих мягких французских булок.",
  chinese: "今天天气很好。我们去公园散步，看见了许多花。 孩子们在湖边放风筝。\n\n晚上下了一场小雨，空气很清新。",
  mark: "\ufeffA byte order mark begins this text.\u2028A line separator, and no-break\u00a0space \u3000",
  specials: "a.b*c+d?e^f$g{h}i(j)k|l[m]n\\o/p-q " + "a.b*c+d?e^f$g{h}i(j)k|l[m]n\\o/p-q",
  empty: "",
  blank: " \n\n \n ",
};
const special = [".", "*", "+", "?", "^", "$", "{", "}", "(", ")", "|", "[", "]", "\\", "/", "-", ""];
const cases = [];
for (const [name, text] of Object.entries(texts)) {
  for (const [size, overlap] of [[10, 0], [10, 4], [25, 0], [25, 24], [60, 30], [1000, 100]]) {
    for (const length of ["characters", "letters"]) {
      const separators = name === "specials" ? special : ours;
      for (const keep of overlap === 0 && length === "characters" ? ["start", "none"] : ["start"]) {
        const settings = { size, overlap, separators, length, keep };
        cases.push({ text: name, ...settings, chunks: await split(text, settings) });
      }
    }
  }
}

const languages = Object.fromEntries(
  ["markdown", "go", "python", "js", "java", "rust", "latex"].map((language) => [
    language,
    RecursiveCharacterTextSplitter.getSeparatorsForLanguage(language),
  ]),
);

const lines = (records) => records.map((record) => "    " + JSON.stringify(record)).join(",\n");
process.stdout.write(`{
  "splitter": "@langchain/textsplitters 1.0.2",
  "languages": ${JSON.stringify(languages)},
  "texts": ${JSON.stringify(texts)},
  "cases": [
${lines(cases)}
  ],
  "corpora": [
${lines(corpora)}
  ]
}
`);
