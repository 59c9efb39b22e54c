package lexical

import "strings"

// stopWords are English function words: determiners, pronouns, prepositions,
// conjunctions, auxiliary verbs, and adverbs and verbs so general that they say
// nothing about a topic. Apostrophes are straight, as foldRune makes them.
var stopWords = func() map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsSeq(stopWordList) {
		words[w] = true
	}
	return words
}()

const stopWordList = `
a an the this that these those such same other another others else each every
either neither both all any some none no not nor only own such half several
few fewer fewest little less least many more most much enough plenty
anybody anyone anything everybody everyone everything nobody nothing somebody
someone something somewhere anywhere everywhere nowhere

i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself one ones oneself
they them their theirs themselves

who whom whose which what when where why how whoever whomever whatever
whichever whenever wherever however whether

about above across after against along alongside amid among amongst around as
at before behind below beneath beside besides between beyond by despite down
during except for from in inside into like near of off on onto out outside over
per since than through throughout till to toward towards under underneath
unlike until unto up upon versus via with within without regarding concerning

and or but so yet if unless because although though while whereas whilst
lest provided hence thus therefore thereby therein thereof hereby herein
whereby wherein whereupon

am is are was were be been being do does did done doing have has had having
can could may might must shall should will would ought cannot
let lets get gets got getting gotten go goes going gone went
come comes came coming make makes made making take takes took taken taking
give gives gave given giving put puts putting keep keeps kept keeping
say says said saying tell tells told telling see sees saw seen seeing
know knows knew known knowing think thinks thought thinking
want wants wanted wanting need needs needed needing use uses used using
seem seems seemed seeming become becomes became becoming
mean means meant meaning show shows showed shown showing
find finds found finding happen happens happened happening

again ago ahead almost already also altogether always anyhow anyway apart
away back even ever far further furthermore here hereafter indeed instead
just later likewise maybe meanwhile moreover namely nearly never nevertheless
next nonetheless now often once otherwise perhaps quite rather really
sometimes somehow somewhat soon still then there thereafter together too twice
usually very well actually basically certainly clearly especially exactly
generally mainly mostly particularly possibly probably simply specifically
typically accordingly according currently

two three four five six seven eight nine ten first second third last
able unable certain different various particular possible likely
good better best new old great big small long way ways thing things
lot lots kind kinds sort sorts etc eg ie vs mr mrs ms dr
please thanks yes okay ok oh

don't doesn't didn't isn't aren't wasn't weren't hasn't haven't hadn't
can't couldn't won't wouldn't shan't shouldn't mustn't mightn't needn't ain't
i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll
it's it'd it'll we're we've we'd we'll they're they've they'd they'll
that's that'd that'll there's there're here's who's who'd who'll what's what're
where's when's why's how's let's one's
dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt cant couldnt wont
wouldnt shouldnt im ive youre youve theyre theyve thats
`
