"""The words that the rules know: common verbs of procedures with the base form behind an inflected one, and opposites.

Sets of words are written as texts; the opposite of a condition in words is `otherwise` or its denial.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, Literal

VerbForm = Literal["base", "third", "gerund", "past"]
_VERBS: Final = """
    abort accept access accompany acknowledge acquire activate adapt add address adjust administer admit adopt
    advance advertise advise agree align allocate allow alter analyse analyze annotate announce answer appeal append
    apply appoint appraise approve archive arrange arrive ask assemble assess assign assist attach attend audit
    authenticate authorise authorize await award back bake balance ban base beat begin bill bind blend block board
    boil book borrow bottle brew brief bring broadcast browse brush build buy calculate calibrate call cancel
    capture carry carve cash cast catch categorise categorize celebrate certify change charge chart chase check
    chill choose chop circulate claim clarify classify clean clear click close coat code collate collect combine
    come comment commission commit communicate compare compensate compile complain complete compose compress compute
    conduct configure confirm connect consider consolidate construct consult contact continue contribute convert
    cook cool coordinate copy correct count cover craft create credit cross cultivate culture cure cut debit debug
    decide declare decline decorate decrease deduct defer define delay delegate delete deliver demand demonstrate
    deny depart deploy deposit describe design destroy detect determine develop deviate diagnose dictate dig dip direct
    disable discard discharge disconnect discount discuss dispatch display dispose dissolve distribute divide
    document donate double download draft drag drain draw dress drill drive drop dry dye earn eat edit elaborate
    elect eliminate email employ empty enable enclose encrypt end engage enlarge enrich enrol enroll ensure enter
    erase escalate escort establish estimate evacuate evaluate examine exchange execute exit expand explain explore
    export extend extinguish extract face fasten fax feed fetch file fill filter finalise finalize finance find
    finish fit fix flag flatten flip flush fly fold follow forecast format forward freeze frost fry fulfil fulfill
    fund garnish gather generate get give glue go grade grant grate greet grill grind group guide hail hand handle
    hang harvest have heat help hire hoist hold host identify illustrate implement import improve include increase
    indicate inflate inform initiate inject insert inspect install instruct insulate insure integrate interpret
    interview introduce invalidate investigate invite invoice iron irrigate isolate issue join judge jump justify
    keep knead label launch lay lead learn lease leave lend let level lift light limit link list listen load locate
    lock log look lower mail maintain make manage manufacture marinate mark market marry mash match measure mediate
    meet melt mend merge message microwave migrate mince mine mix model modify moisten monitor mould mount move mow
    name navigate negotiate nominate notarise notarize note notify number nurse observe obtain occupy offer oil open
    operate order organise organize outline oversee overwrite pack package paint park pass paste patch pause pay
    peel perform permit phone photocopy photograph pick pile pilot place plan plant play pledge plough plug point
    polish poll pool post postpone pour practice practise praise preheat prepare prepay prescribe present preserve
    press pretest prevent price print prioritise prioritize process procure produce program promote prompt propose
    protect prove provide prune publish pull pump purchase purge push put qualify quantify query queue quit quote
    raise rank rate reach read rearm reassign rebook reboot recall receive recheck recommend reconcile record
    recover recruit recycle redeem redesign redirect reduce refer refill refine refrigerate refund refuse regenerate
    register regulate rehearse reheat reimburse reject relabel release reload relocate remind remove rename render
    renew rent reopen reorder repair repay repeat replace replenish reply report represent request require
    reschedule rescue research reserve reset reshelve resize resolve respond restart restock restore restrict
    resubmit resume retain retest retire retrain retrieve retry return reuse reveal reverse review revise revoke
    reward rewrite ring rinse rise roast roll rotate route run sample sand save saw say scale scan scatter schedule
    scold score scrap scrape screen screw scrub seal search season seat secure see seek segment select sell send
    separate serve set settle sew shake shape share sharpen shelter shelve ship shop shorten show shred shut sieve
    sift sign simmer sing sit sketch skim skip slice slide smoke smooth snuff soak soften solicit solve sort spawn
    speak specify spend split sponsor spot spray spread sprinkle squeeze stack stain stamp standardise standardize
    start state steam steep sterilise sterilize stir stitch stop store strain strap stretch strike strip study
    submit subscribe subtract suggest summarise summarize supervise supply support surrender survey suspend swallow
    swap sweep switch synchronise synchronize tag take talk taste teach tear tell terminate test thank thaw thicken
    think throw tie tighten tilt toast toss total trace track trade train transcribe transfer transform translate
    transmit transplant transport treat triage trigger trim try tune turn twist type unblock uncork undergo undo
    unfold uninstall unload unlock unpack unplug unroll unscrew unwrap update upgrade upload use utilise utilize
    vaccinate validate verify vet view visit vote wait walk warm warn wash watch water wear weave weigh welcome weld
    whip whisk winterise wipe withdraw withhold wrap write yield zip
"""
_IRREGULAR: Final = """
    beat:beat,beaten begin:began,begun bind:bound bring:brought broadcast:broadcast build:built buy:bought cast:cast
    catch:caught choose:chose,chosen come:came cut:cut dig:dug draw:drew,drawn drive:drove,driven eat:ate,eaten feed:fed
    find:found forecast:forecast freeze:froze,frozen get:got,gotten give:gave,given go:went,gone grind:ground hang:hung
    have:had hold:held keep:kept lay:laid lead:led leave:left lend:lent let:let light:lit make:made meet:met
    overwrite:overwrote,overwritten pay:paid prepay:prepaid prove:proved,proven put:put quit:quit read:read
    rewrite:rewrote,rewritten ring:rang,rung rise:rose,risen run:ran saw:sawed,sawn say:said see:saw,seen seek:sought
    sell:sold send:sent set:set sew:sewed,sewn shake:shook,shaken show:showed,shown shut:shut sing:sang,sung sit:sat
    slide:slid speak:spoke,spoken spend:spent split:split spread:spread steep:steeped strike:struck sweep:swept
    take:took,taken teach:taught tear:tore,torn tell:told think:thought throw:threw,thrown undergo:underwent,undergone
    undo:undid,undone wear:wore,worn withdraw:withdrew,withdrawn withhold:withheld write:wrote,written
"""
_VOWELS: Final = "aeiou"
OTHERWISE: Final = "otherwise"
_DENIAL = re.compile(r"\b(?P<verb>is|are|was|were|has|have|can|will|must|should) not\b")
_DOES_NOT = re.compile(r"\b(?:does|do|did) not ")
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|has been|have been|can|will|must|should)\b")


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, which blanks divide."""
    return frozenset(text.split())


def word_overlap(first: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard index of two sets of words, 0.0 to 1.0; 0.0 if both are empty."""
    return len(first & other) / max(1, len(first | other))


_DOUBLED: Final = word_set(
    "ban beg begin bet commit control cut debug defer dig dip drop fit flag flip get grab jam log mop occur pat permit "
    "pin plan plug program prefer put quit refer rub run scan scrub set ship shop shred shut sit skim skip spin split "
    "step stir stop strip submit swap tag tip transfer transmit trim unplug unwrap whip wrap zip cancel label travel "
    "model total signal"
)
# Verbs whose form names a thing far more often: a bare form of them starts an action, but ends no subject.
_NOUNS: Final = word_set(
    "address award balance base bill board book bottle charge chart check claim code comment copy credit cross delay "
    "demand deposit design discount dispatch display document dress drill dye email end exchange exit face fax file "
    "filter flag format fund garnish glue grade group guide hand heat help iron issue judge label launch level light "
    "link list load lock log look mail mark market match message model mount name note number offer oil order outline "
    "pack package paint park pass paste patch phone photograph pile pilot place plan plant plug point polish poll pool "
    "post price print process program purchase query quote rank rate record refund release rent repair reply report "
    "request research reserve return review roll route run sample scale schedule score screen seal search season sign "
    "slice sort stack stamp state store study supply support survey switch tag talk taste test tie total trace track "
    "trade train transfer transport trial type update upgrade use view visit vote wait walk wash watch water weld "
    "wrap yield"
)


def verb_of(word: str) -> tuple[str, VerbForm] | None:
    """Return the base form behind a word of any case, and which form the word is; None for no verb that is known."""
    return _forms().get(word.lower())


def is_base(word: str) -> bool:
    """Return True if the word is the base form of a verb that is known."""
    verb = verb_of(word)
    return verb is not None and verb[1] == "base"


def names_things(word: str) -> bool:
    """Return True for a form that is a noun as often as a verb, such as "order" or "reports"."""
    verb = verb_of(word)
    return verb is not None and verb[0] in _NOUNS


def is_participle(word: str) -> bool:
    """Return True if the word is the past form or past participle of a verb: known, or by its ending."""
    verb = verb_of(word)
    if verb is not None:
        return verb[1] == "past" or verb[0] in _SAME
    return len(word) > 4 and word.lower().endswith("ed")


def participle_base(word: str) -> str:
    """Return the base form behind a past participle; of an unknown verb, what its ending suggests."""
    verb = verb_of(word)
    if verb is not None:
        return verb[0]
    lower = word.lower()
    stem = lower[:-2] if lower.endswith("ed") else lower
    if lower.endswith("ied"):
        return stem[:-1] + "y"
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]
    return stem + "e" if stem[-1:] in "cgsuvz" and not stem.endswith("ss") else stem


def third_base(word: str) -> str:
    """Return the base form behind the third person of a verb; of an unknown one, what its ending suggests."""
    verb = verb_of(word)
    if verb is not None:
        return verb[0]
    lower = word.lower()
    if lower.endswith("ies"):
        return lower[:-3] + "y"
    if lower.endswith(("ches", "shes", "sses", "xes", "zes", "oes")):
        return lower[:-2]
    return lower.removesuffix("s")


def gerund_base(word: str) -> str | None:
    """Return the base form behind a gerund; None if the word is none."""
    verb = verb_of(word)
    if verb is not None:
        return verb[0] if verb[1] == "gerund" else None
    lower = word.lower()
    return participle_base(lower[:-3] + "ed") if len(lower) > 5 and lower.endswith("ing") else None


_SAME: Final = word_set("broadcast cast cut forecast let put quit read set shut split spread")


@cache
def _forms() -> dict[str, tuple[str, VerbForm]]:
    """Return the verb and the form of each word; a base form goes before the forms of others."""
    irregular = {base: past.split(",") for base, _, past in (pair.partition(":") for pair in _IRREGULAR.split())}
    bases = dict.fromkeys((*_VERBS.split(), *irregular))
    forms: dict[str, tuple[str, VerbForm]] = {base: (base, "base") for base in bases}
    for base in bases:
        forms.setdefault(_third(base), (base, "third"))
        forms.setdefault(_ending(base, "ing"), (base, "gerund"))
        pasts = irregular.get(base) or [_ending(base, "ed")]
        if base in _DOUBLED and base.endswith("l"):  # cancelled and canceled
            pasts = [*pasts, f"{base}ed"]
        for past in pasts:
            forms.setdefault(past, (base, "past"))
    return forms


def _third(base: str) -> str:
    if base == "have":
        return "has"
    if base.endswith("y") and base[-2] not in _VOWELS:
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def _ending(base: str, ending: str) -> str:
    if base in _DOUBLED:
        return base + base[-1] + ending
    if base.endswith("ie"):
        return (base[:-2] + "y" if ending == "ing" else base[:-1]) + ending
    if base.endswith("e") and not (ending == "ing" and base.endswith(("ee", "ye"))):
        return base[:-1] + ending
    if ending == "ed" and base.endswith("y") and base[-2] not in _VOWELS:
        return base[:-1] + "ied"
    return base + ending


def negate_condition(condition: str) -> str:
    """Return the opposite of a condition: without its "not", or with one behind its verb.

    A condition without a verb that is known gets "not" in front.
    """
    match = _DENIAL.search(condition)
    if match is not None:
        return f"{condition[: match.start()]}{match['verb']}{condition[match.end() :]}"
    match = _DOES_NOT.search(condition)
    if match is not None:
        return condition[: match.start()] + condition[match.end() :]
    match = _AUXILIARY.search(condition)
    if match is not None:
        return f"{condition[: match.end()]} not{condition[match.end() :]}"
    words = condition.split()
    for at, word in enumerate(words):
        verb = verb_of(word)
        if at and verb is not None and verb[1] == "third":
            return " ".join([*words[:at], "does not", verb[0], *words[at + 1 :]])
    return f"not {condition}"
