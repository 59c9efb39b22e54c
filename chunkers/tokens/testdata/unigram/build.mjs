// Trains the Unigram vocabulary of tokenizer.json, which tests read: node build.mjs > tokenizer.json
//
// The seeds are the substrings of the words of the text below. Counting the
// tokens of the best paths and scoring tokens by their counts, again and again,
// is expectation-maximisation with Viterbi paths (Kudo 2018, "Subword
// regularization", §3.2). Tokens that no path has are dropped, characters are
// kept. The last round is pruned to the most frequent.

const text = `
Retrieval finds the passages that answer a question. A retriever reads the question, and ranks the passages
of a corpus; a reader answers. Retrieved passages that answer nothing cost reading, and passages that are
not retrieved cost answers. The recall of a retriever is the share of the relevant passages that it
retrieves, its precision the share of what it retrieves that is relevant. Chunks are passages that were cut
from documents: chunking cuts them, chunkers differ in where. Embeddings place texts so that related texts
are near each other, and an embedder embeds the chunks and the questions alike. Testing a retriever tests
the chunker and the embedder too: what was tested once is tested again when the corpus changes.
Leave is granted on request. Requests are answered within three days, and a request that was not answered
is granted. Whoever is ill for more than three days sends a note. Notes are kept for ten years.
Größere Dokumente werden in Abschnitte geteilt, kleinere nicht. Die Abschnitte überlappen, wenn nötig.
Les réponses sont données en français; où est la bibliothèque, où sont les élèves déjà arrivés?
El niño comió piñas y plátanos mañana por la mañana. Zażółć gęślą jaźń, zażółć ją jeszcze raz.
Поиск находит ответы на вопросы, а вопросы находят ответы. Ответы ищут поиском.
检索系统根据问题检索文档。文档被切分为片段,片段再被检索。今天天气很好,我们去公园散步。
検索は文書を探す。文書は断片に分けられる。カタカナとひらがな。
검색은 문서를 찾는다. 문서는 조각으로 나뉜다.
البحث يجد الوثائق. الوثائق مقسمة إلى أجزاء.
खोज दस्तावेज़ ढूँढती है। दस्तावेज़ भागों में बँटे हैं।
Numbers: 1 2 3 10 20 2024 2025 2026 3.14 1,000 50% $5 #7 (a) [b] {c} "d" 'e' f@g.h i/j k_l m-n 😀 😀 👍
`;

const words = text.normalize("NFKC").split(/\s+/).filter(Boolean).map((word) => "▁" + word);
const longest = 8;
let counts = new Map();
const add = (map, key, n) => map.set(key, (map.get(key) ?? 0) + n);
for (const word of words) {
  const chars = [...word];
  for (let i = 0; i < chars.length; i++) {
    for (let j = i + 1; j <= Math.min(chars.length, i + longest); j++) {
      add(counts, chars.slice(i, j).join(""), j - i);
    }
  }
}
const isChar = (token) => [...token].length === 1;
for (const [token, n] of counts) {
  if (!isChar(token) && n < 2 * [...token].length) counts.delete(token);
}

const best = (word, scores) => {
  const chars = [...word];
  const paths = [{ score: 0 }];
  for (let end = 1; end <= chars.length; end++) {
    for (let start = Math.max(0, end - longest); start < end; start++) {
      const token = chars.slice(start, end).join("");
      const score = scores.get(token) + paths[start].score;
      if (score > (paths[end]?.score ?? -Infinity)) paths[end] = { score, start, token };
    }
  }
  const tokens = [];
  for (let end = chars.length; end > 0; end = paths[end].start) tokens.push(paths[end].token);
  return tokens;
};

const scoresOf = (counts) => {
  const total = [...counts.values()].reduce((a, b) => a + b, 0);
  return new Map([...counts].map(([token, n]) => [token, Math.log(n / total)]));
};
for (let round = 0; round < 6; round++) {
  const scores = scoresOf(counts);
  const chars = [...counts.keys()].filter(isChar);
  counts = new Map();
  for (const word of words) best(word, scores).forEach((token) => add(counts, token, 1));
  chars.forEach((char) => add(counts, char, 0.1));
}

const rounded = (x) => Math.round(x * 1e6) / 1e6;
const pieces = [...scoresOf(counts)]
  .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  .filter(([token], i) => i < 350 || isChar(token))
  .map(([token, score]) => [token, rounded(score)]);
const special = ["<s>", "<pad>", "</s>", "<unk>"].map((token) => [token, 0]);
const bytes = Array.from({ length: 256 }, (_, b) => ["<0x" + b.toString(16).toUpperCase().padStart(2, "0") + ">", 0]);
const vocab = [...special, ...bytes, ...pieces];
const vocabulary = vocab.map((entry) => "      " + JSON.stringify(entry)).join(",\n");

const added = [...special.map(([content], id) => ({ id, content })), { id: vocab.length, content: "<mask>" }].map((token) =>
  JSON.stringify({ ...token, single_word: false, lstrip: token.content === "<mask>", rstrip: false, normalized: false, special: true }),
);
const s = (id) => ({ SpecialToken: { id, type_id: 0 } });
const seq = (id) => ({ Sequence: { id, type_id: 0 } });
const processor = {
  type: "TemplateProcessing",
  single: [s("<s>"), seq("A"), s("</s>")],
  pair: [s("<s>"), seq("A"), s("</s>"), s("</s>"), seq("B"), s("</s>")],
  special_tokens: { "<s>": { id: "<s>", ids: [0], tokens: ["<s>"] }, "</s>": { id: "</s>", ids: [2], tokens: ["</s>"] } },
};
process.stdout.write(`{
  "version": "1.0",
  "truncation": null,
  "padding": null,
  "added_tokens": [
    ${added.join(",\n    ")}
  ],
  "normalizer": null,
  "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
  "post_processor": ${JSON.stringify(processor)},
  "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
  "model": {
    "type": "Unigram",
    "unk_id": 3,
    "byte_fallback": false,
    "vocab": [
${vocabulary}
    ]
  }
}
`);
