// Package sentence cuts documents at the ends of sentences and paragraphs, and
// adapts the overlap of chunks to how dense a text is. It is the only package of
// rageval that imports a library for sentence segmentation,
// github.com/clipperhouse/uax29; that library follows Unicode's default rules,
// and [Bounds] says what is added to them.
//
// Measured in hard cases, short texts of which every sentence must be right:
//
//	                            cases  Bounds  Unicode alone  Punkt
//	known when rules were made    181     179             89     99
//	   English                    139     137             72     86
//	written later, never used      53      44             22     28
//	   English                     42      36             19     25
//
// Punkt is github.com/neurosnap/sentences with its English model. What stays
// wrong:
//
//   - an abbreviation not in the lists, before a capital (spp. Nov.);
//   - an abbreviation that ends a sentence, before a word that is not a common
//     first one (We left at 6 a.m. Breakfast was ready.);
//   - a full stop inside a quotation that the sentence goes on after;
//   - a question in quotation marks before a name ("Really?" Tom asked.);
//   - a sentence that begins with a small letter, in a text with capitals;
//   - Thai, Lao, Khmer and Myanmar text, which marks no ends of sentences.
package sentence
