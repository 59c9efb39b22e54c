package sentence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what may follow an abbreviation.
type kind uint8

const (
	continuing kind = iota + 1 // the rest of the sentence, whatever it looks like
	numbering                  // a number; before anything else it is a word like others
	ending                     // the rest of the sentence, or the next one

	capitalised kind = 0x80 // added to those that are words unless they begin with a capital
)

// kinds holds the known abbreviations in small letters, without the full stop
// at their end.
var kinds = func() map[string]kind {
	m := map[string]kind{}
	for _, l := range []struct {
		kind  kind
		words string
	}{
		// English
		{continuing, `mr mrs ms messrs dr drs prof profs rev hon gov sen rep reps gen lt maj capt cmdr sgt cpl pvt brig
			Ste Mt Fr Br Col Pres Adm Supt lt.col lt.gen maj.gen brig.gen
			e.g i.e viz vs v cf c.f ca approx esp incl asst assoc`},
		{numbering, `fig figs eq eqs eqn sec sect secs ch chap chaps vol vols no nos p pp par paras art arts pt op cl app tab
			thm prop def defn tel ext bk
			Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Ex Lev Matt Rom Cor`},
		{ending, `etc al et.al u.s u.s.a u.k u.n e.u d.c inc ltd co corp bros llc plc intl natl dept Jr Sr esq ph.d
			a.m p.m b.c b.c.e c.e a.d St ave blvd rd hwy pkwy bldg apt univ inst assn govt
			Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun
			oz lb lbs ft yds sq hrs mins secs yr yrs est avg misc resp min max ibid op.cit loc.cit ed eds trans suppl
			Calif Fla Mass Conn Wash Tex Ariz Colo Ill Mich Minn Penn Pa Va Ga`},
		// German
		{continuing, `hr hrn frl dipl dipl.-ing z.b d.h i.d.r i.a u.u o.g sog vgl evtl ggf bspw bzw inkl exkl zzgl Geb Gest`},
		{numbering, `nr nrn abb abs anm ziff aufl rdnr kap bd jg s Okt Dez Jän`},
		{ending, `usw u.a u.ä u.v.m o.ä s.o s.u ff mio mrd str tsd stck gmbh`},
		// French
		{continuing, `mm mme mlle mgr p.ex av env c.-à-d`},
		{numbering, `janv févr avr juil déc`},
		{ending, `j.-c av.j.-c apr.j.-c dép éd`},
		// Spanish
		{continuing, `sra srta dra sres ud uds vd vds lic p.ej excmo`},
		{numbering, `núm pág págs cap ene abr dic`},
		{ending, `ee.uu uu a.c s.a cía aprox`},
	} {
		for word := range strings.FieldsSeq(l.words) {
			k := l.kind
			if r, _ := utf8.DecodeRuneInString(word); unicode.IsUpper(r) {
				k |= capitalised
			}
			m[strings.ToLower(word)] = k
		}
	}
	return m
}()

func set(words string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		m[word] = true
	}
	return m
}

// starters are words, in small letters, that commonly start a sentence and do
// not commonly follow an abbreviation with a capital.
var starters = set(`
	a an the this that these those it its he his she her hers they their we our you your i my
	there here who what when where why how which if as at in on for from with without by to of into under over between
	after before since until while during once although though because whereas unless despite
	and but or so yet nor not no yes now then today tonight yesterday tomorrow later soon still even only also
	however moreover furthermore therefore thus hence nevertheless meanwhile instead otherwise indeed finally
	first second third next last some many most both each every all any another other others one two three several few
	such is are was were do does did can could will would should may might must have has had let please

	der die das den dem des ein eine einer einem einen er sie es wir ihr ich man im am auf aus bei mit nach seit vor zu zum zur
	und aber oder doch denn wenn als da dann auch nur so dies diese dieser dieses dabei dort hier jetzt heute damals später nun
	deshalb daher trotzdem jedoch nicht kein keine alle viele

	le la les un une des il elle ils elles nous vous je ce cet cette ces dans au aux mais et ou donc car si pour par sur
	avec après avant depuis quand comme ainsi puis alors ensuite enfin

	el los las una unos unas él ella ellos yo nosotros este esta esto estos esas en por para con pero y se su sus
	cuando como donde después antes entonces también además luego sin`)

// beforeOrdinal are German words, in small letters, between which and a noun an
// ordinal stands.
var beforeOrdinal = set(`am vom zum im beim bis der die das dem den des ein eine einen einem einer jeder jeden jedes`)

var germanMonths = set(`januar jänner februar märz april mai juni juli august september oktober november dezember`)
