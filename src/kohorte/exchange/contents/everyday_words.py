"""Words that columns of clinical tables consist of, in English and German: a text of such words names nobody.

Names of people, of places smaller than a state, of firms and of products are not in the list. Words that are also
frequent family names (`cook`, `farmer`) count in small letters only.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

ANSWERS = """
    yes no not none never ever always often sometimes rarely daily weekly monthly yearly once twice several many few
    more less than or and of the to in on at by with without for from per other others any all some unknown known
    missing refused declined applicable available done pending
    present absent positive negative neutral normal abnormal true false low high medium middle higher lower increased
    decreased elevated reduced stable better worse same good fair poor bad excellent very mild moderate severe slight
    marked extreme minor major light heavy strong weak acute chronic recurrent first second third fourth last former
    current past new old early late active inactive complete incomplete partial full half open closed left right both
    bilateral unilateral upper lower inner outer anterior posterior proximal distal central peripheral
    ja nein nicht kein keine keiner nie niemals immer oft manchmal selten täglich wöchentlich monatlich jährlich einmal
    zweimal mehrmals mehr weniger als und oder von der die das des dem den im in am mit ohne für aus pro bis ab über
    unter andere anderer anderes sonstige sonstiges übrige alle unbekannt bekannt fehlend verweigert vorhanden positiv
    negativ neutral normal auffällig unauffällig wahr falsch niedrig hoch mittel höher niedriger erhöht erniedrigt
    vermindert stabil besser schlechter gleich gut mäßig schlecht sehr leicht mittelschwer schwer stark schwach gering
    akut chronisch rezidivierend erste zweite dritte vierte letzte früher ehemalig ehemals aktuell derzeit neu alt früh
    spät aktiv inaktiv vollständig unvollständig teilweise voll links rechts beidseits beidseitig einseitig oben unten
    vorne hinten innen außen zentral peripher weder noch erfolgt geplant ausstehend entfällt
"""
PEOPLE = """
    female male diverse women men woman man girl boy inter intersex non binary transgender weiblich männlich divers
    frauen männer mädchen jungen
    single married divorced separated widowed partnership partner registered civil civ spouse absent cohabiting
    ledig verheiratet geschieden getrennt verwitwet partnerschaft eingetragene lebend lebenspartnerschaft
    alone living lives family household child children parents mother father friends home nursing care institution
    allein alleinlebend familie haushalt kind kinder eltern zuhause pflegeheim heim betreutes wohnen
    newborn infant toddler adolescent adult adults elderly senior neugeborenes säugling kleinkind jugendlich jugendliche
    erwachsen erwachsene senioren
    amer american indian eskimo asian pac pacific islander african european hispanic latino native mixed multiple
    caucasian race ethnicity
    smoker smokers smoking nonsmoker ex drinker alcohol abstinent sober tobacco cigarettes vaping cannabis drugs use
    user raucher raucherin nichtraucher nichtraucherin exraucher exraucherin gelegenheitsraucher rauchen alkohol tabak
    zigaretten drogen konsum abstinent gelegentlich regelmäßig occasional occasionally regular regularly
    sedentary sports sport exercise vegetarian vegan diet omnivore vegetarisch bewegung ernährung
    public private statutory insurance insured uninsured health plan accident social welfare self paying pay medicare
    medicaid gesetzlich privat versichert unversichert pflichtversichert zusatzversichert selbstzahler
    unfallversicherung sozialhilfe kasse
"""
WORK = """
    employed unemployed self emp inc retired pensioner student pupil apprentice trainee homemaker worker workers
    employee employees civil servant servants official officials freelance time part full shift work worked working
    pay gov government federal local state sector industry trade trades services service serv education higher primary
    secondary tertiary vocational voc elementary school college university some degree bachelor bachelors master masters
    doctorate doctoral graduate grad undergraduate diploma apprenticeship preschool kindergarten prof professional
    professionals assoc academic acdm hs certificate leaving compulsory
    tech technical nontechnical support craft repair sales exec executive managerial managers specialty handlers
    cleaners machine op inspct inspection adm administration administrative clerical farming fishing transport moving
    storage priv house protective armed forces teacher teachers nurse nurses physician physicians pharmacist midwife
    technician technicians engineer engineers scientist lawyer judge electrician mechanic bricklayer metalworker
    plumber hairdresser waiter cleaner clerk accountant assistant driver drivers operator operators officer police
    firefighter librarian journalist artist musician programmer developer software office bank shop warehouse medical
    geriatric childcare social kindergarten skilled unskilled agricultural agriculture forestry plant associate related
    occupation occupations business finance law technology production crafts land people personal
    erwerbstätig angestellt angestellte angestellter arbeitslos arbeitsuchend selbständig selbstständig pensioniert
    pensionist pensionistin berentet rentner rentnerin ruhestand schüler schülerin student studentin studium lehrling
    auszubildende hausfrau hausmann arbeiter arbeiterin beamter beamtin beamte freiberuflich teilzeit vollzeit
    schichtarbeit karenz pflichtschule volksschule hauptschule mittelschule realschule gymnasium matura abitur lehre
    fachschule fachhochschule hochschule universität abschluss lehrer lehrerin krankenschwester krankenpfleger
    pflegekraft ärztin hebamme techniker technikerin ingenieur ingenieurin verkäufer verkäuferin elektriker
    mechaniker büro verwaltung landwirtschaft industrie handwerk handel verkehr dienstleistung gesundheit bildung
"""
LOWER_ONLY = (
    "cook farmer gardener painter carpenter baker butcher fisher judge pilot priest porter shepherd tailor hunter"
    " weaver potter mason sailor miller brewer brown green gray grey young long short"
    " klein groß schwarz weiß braun grau grün jung lang kurz"
)
"""Words that are also family names: in capital letters they may be names."""
COLOURS = """
    White Black brown-skinned blond blonde brunette red blue yellow dark bright hair hairs eyes skin tall small obese
    overweight underweight left-handed right-handed tattoo scar scars birthmark beard glasses wheelchair prosthesis
    rot blau gelb grün braun schwarz weiß grau dunkel hell haare augen haut groß klein übergewichtig untergewichtig
    linkshänder rechtshänder narbe tätowierung brille rollstuhl prothese
"""
MEDICINE = """
    disease diseases disorder disorders syndrome infection infections inflammation injury injuries fracture fractures
    wound burn pain fever cough fatigue nausea vomiting diarrhoea diarrhea bleeding haemorrhage hemorrhage thrombosis
    embolism stroke infarction ischaemia ischemia ischaemic ischemic failure insufficiency stenosis arrhythmia
    fibrillation atrial ventricular sinus rhythm angina stemi nstemi hypertension hypotension diabetes mellitus type
    insulin glucose obesity asthma copd pneumonia bronchitis influenza covid tuberculosis sepsis hiv hepatitis cirrhosis
    cancer tumour tumor neoplasm neoplasms malignant benign metastasis metastatic metastases carcinoma adenocarcinoma
    squamous cell cells small large sarcoma melanoma lymphoma leukaemia leukemia myeloma localized regional advanced
    differentiated undifferentiated well poorly moderately grade stage class score level group category phase cycle line
    epilepsy dementia depression depressive anxiety schizophrenia psychosis delirium autism migraine sclerosis
    neuropathy
    arthritis arthrosis osteoporosis psoriasis eczema allergy allergic anaemia anemia renal hepatic cardiac pulmonary
    cerebral gastric intestinal vascular metabolic endocrine neurological psychiatric mental behavioural behavioral
    congenital genetic hereditary viral bacterial fungal autoimmune degenerative
    pregnancy pregnant postpartum birth delivery caesarean cesarean vaginal spontaneous preterm term twin
    surgery surgical operation operative conservative endoscopic laparoscopic minimally invasive robotic emergency
    elective urgent planned therapy treatment treated untreated medication chemotherapy radiotherapy radiation
    immunotherapy hormone dialysis transplantation transplant ventilation oxygen rehabilitation palliative curative
    adjuvant neoadjuvant intravenous oral subcutaneous intramuscular inhaled topical tablet tablets capsule injection
    infusion placebo control arm intervention dose antibiotic antibiotics anticoagulant anticoagulation statin
    remission response progression progressive relapse recovered recovery improved unchanged deteriorated cured alive
    dead deceased died death survived discharged discharge transferred transfer admitted admission readmitted inpatient
    outpatient ambulatory stationary day clinic hospital ward rehab hospice
    general internal medicine cardiology gastroenterology geriatrics nephrology oncology pneumology pulmonology
    haematology hematology endocrinology rheumatology infectiology orthopaedics orthopedics trauma urology gynaecology
    gynecology neonatology obstetrics paediatrics pediatrics dermatology neurology neurosurgery ophthalmology
    otolaryngology ent psychiatry psychosomatic radiology anaesthesiology anesthesiology anaesthesia pathology
    intensive unit emergency department head neck
    heart lung lungs liver kidney kidneys brain breast prostate colon rectum stomach pancreas bladder uterus ovary
    cervix thyroid oesophagus esophagus skin bone bones blood lymph node nodes spine hip knee shoulder hand foot arm leg
    ankle wrist elbow face chest abdomen abdominal pelvis back eye ear nose throat mouth tooth teeth muscle nerve nerves
    artery arteries vein veins joint joints system systems organ organs tract tissue site sites
    test result results sample imaging ultrasound biopsy mutation mutated wild wildtype expression receptor status
    sensitive resistant intermediate reactive detected detectable undetectable trace turbid clear
    krankheit erkrankung störung syndrom infektion entzündung verletzung fraktur wunde schmerz schmerzen fieber husten
    müdigkeit übelkeit erbrechen durchfall blutung thrombose embolie schlaganfall infarkt herzinfarkt insuffizienz
    herzinsuffizienz niereninsuffizienz stenose rhythmusstörung vorhofflimmern bluthochdruck hypertonie hypotonie typ
    adipositas lungenentzündung grippe tuberkulose leberzirrhose krebs tumor bösartig gutartig metastase metastasen
    metastasiert karzinom lymphom leukämie lokal fortgeschritten grad stadium klasse stufe gruppe kategorie zyklus
    epilepsie demenz depression angststörung schizophrenie psychose migräne arthrose osteoporose allergie anämie
    schwangerschaft schwanger geburt entbindung kaiserschnitt spontan spontangeburt frühgeburt
    operation operativ konservativ endoskopisch notfall elektiv dringend geplant therapie behandlung behandelt
    unbehandelt medikamente chemotherapie strahlentherapie immuntherapie dialyse transplantation beatmung beatmet
    sauerstoff rehabilitation palliativ kurativ intravenös oral subkutan tablette kapsel injektion infusion placebo
    kontrolle antibiotikum remission progression rückfall rezidiv genesen gebessert unverändert verschlechtert geheilt
    lebend verstorben tod überlebt entlassen verlegt aufgenommen stationär ambulant tagesklinik klinik krankenhaus
    innere medizin allgemeinmedizin chirurgie unfallchirurgie gefäßchirurgie kardiologie gastroenterologie geriatrie
    nephrologie onkologie pneumologie hämatologie orthopädie urologie gynäkologie geburtshilfe neonatologie pädiatrie
    kinderheilkunde dermatologie neurologie neurochirurgie augenheilkunde hno psychiatrie radiologie anästhesie
    pathologie intensivstation notaufnahme
    herz lunge leber niere nieren gehirn brust prostata darm dickdarm magen bauchspeicheldrüse blase gebärmutter
    eierstock schilddrüse haut knochen blut wirbelsäule hüfte knie schulter hand fuß arm bein gesicht bauch becken
    rücken auge ohr nase hals mund zahn muskel nerv gelenk
    test ergebnis probe nachweisbar resistent sensibel mutation rezeptor
"""
PLACES = """
    burgenland|carinthia|kärnten|lower austria|niederösterreich|upper austria|oberösterreich|salzburg|styria|steiermark
    |tyrol|tirol|vorarlberg|vienna|wien|baden württemberg|bavaria|bayern|berlin|brandenburg|bremen|hamburg|hesse|hessen
    |lower saxony|niedersachsen|mecklenburg vorpommern|mecklenburg western pomerania|north rhine westphalia
    |nordrhein westfalen|rhineland palatinate|rheinland pfalz|saarland|saxony|sachsen|saxony anhalt|sachsen anhalt
    |schleswig holstein|thuringia|thüringen
    |aargau|appenzell ausserrhoden|appenzell innerrhoden|basel landschaft|basel stadt|bern|freiburg|fribourg|genf|genève
    |geneva|glarus|graubünden|jura|luzern|lucerne|neuenburg|neuchâtel|nidwalden|obwalden|schaffhausen|schwyz|solothurn
    |st gallen|tessin|ticino|thurgau|uri|waadt|vaud|wallis|valais|zug|zürich|zurich
    |alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|district of columbia|florida|georgia
    |hawaii
    |idaho|illinois|indiana|iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi
    |missouri|montana|nebraska|nevada|new hampshire|new jersey|new mexico|new york|north carolina|north dakota|ohio
    |oklahoma|oregon|pennsylvania|rhode island|south carolina|south dakota|tennessee|texas|utah|vermont|virginia
    |washington|west virginia|wisconsin|wyoming
    |austria|österreich|germany|deutschland|switzerland|schweiz|liechtenstein|italy|italien|france|frankreich|spain
    |spanien|portugal|netherlands|niederlande|holand netherlands|belgium|belgien|luxembourg|luxemburg|denmark|dänemark
    |sweden|schweden|norway|norwegen|finland|finnland|iceland|island|ireland|irland|united kingdom|england|scotland
    |schottland|wales|poland|polen|czechia|czech republic|tschechien|slovakia|slowakei|hungary|ungarn|slovenia|slowenien
    |croatia|kroatien|serbia|serbien|bosnia and herzegovina|bosnien und herzegowina|bosnia|bosnien|montenegro|kosovo
    |albania|albanien|north macedonia|nordmazedonien|greece|griechenland|bulgaria|bulgarien|romania|rumänien|moldova
    |moldau|ukraine|belarus|russia|russland|estonia|estland|latvia|lettland|lithuania|litauen|cyprus|zypern|malta|turkey
    |türkei|syria|syrien|iraq|irak|iran|afghanistan|pakistan|india|indien|bangladesh|sri lanka|china|taiwan|japan|korea
    |south korea|südkorea|vietnam|thailand|thailand|philippines|philippinen|indonesia|indonesien|malaysia|cambodia|laos
    |hong kong|hong|israel|lebanon|libanon|jordan|jordanien|egypt|ägypten|morocco|marokko|tunisia|tunesien|algeria
    |algerien|nigeria|ghana|ethiopia|äthiopien|eritrea|somalia|sudan|kenya|kenia|south africa|südafrika|africa|afrika
    |asia|asien|europe|europa|america|amerika|north america|south america|oceania|ozeanien|canada|kanada|mexico|mexiko
    |usa|united states|united states of america|vereinigte staaten|cuba|kuba|jamaica|haiti|dominican republic
    |puerto rico
    |columbia|colombia|kolumbien|ecuador|peru|brazil|brasilien|argentina|argentinien|chile|bolivia|venezuela|guatemala
    |honduras|nicaragua|el salvador|trinadad tobago|trinidad and tobago|outlying us guam usvi etc|yugoslavia|jugoslawien
    |australia|australien|new zealand|neuseeland|european union|eu
"""
"""States, countries and larger parts of the world, as whole texts: `Baden-Württemberg` is a state, `Baden` a town."""
AMOUNTS = """
    years year months month weeks week days day hours hour minutes minute seconds jahre jahr monate monat wochen woche
    tage tag stunden stunde minuten kg g mg µg mcg l ml dl cm mm m k mmhg mmol mol iu ie u percent prozent points punkte
    euro eur usd dollar least most up over under above below between about north south east west northern southern
    eastern western nord süd ost region rural urban ländlich städtisch abroad ausland inland domestic foreign
"""
ROMAN = "i ii iii iv v vi vii viii ix x xi xii"
ORDINAL = r"[0-9]{1,2}(?:st|nd|rd|th)"
GRADE = r"[a-e]|(?:i{1,3}|iv)[abc]"
"""One of a few: a letter or a stage."""
SHORT = r"[0-9]{1,2}|[0-9]{1,2}k|p?[tnm][0-4][abc]?|g[1-4]|her2|covid19|l[1-5]|th[0-9]{1,2}"
"""Parts of a text with digits: short numbers, stages of a tumour, vertebrae."""
WHOLE = (
    r"[A-Za-zÄÖÜäöü0-9]|[+-]{1,4}|(?:A|B|AB|O|0) ?(?:[+-]|(?:Rh )?(?:pos|neg)\.?)|(?:A|B|AB|O)"
    r"|(?:[<>]=?|[≤≥]) ?[0-9]{1,2}(?:0{0,4}|[.,][0-9])[kK]?"
)
"""Whole texts: one sign, a blood group, or a bound such as `>50K`."""
CLOCK = r"[0-9](?: ?: ?| )[0-9]"
"""Two numbers with a colon or only a blank between them: a time of the day, or digits that belong together."""
MOST_WORDS, MOST_NUMBERS = 8, 2
PART = re.compile(r"[^\W_]+")


@cache
def _small() -> frozenset[str]:
    return frozenset(LOWER_ONLY.casefold().split())


@cache
def _words() -> frozenset[str]:
    texts = (ANSWERS, PEOPLE, WORK, COLOURS, MEDICINE, AMOUNTS)
    return frozenset(word for text in texts for word in text.casefold().replace("-", " ").split()) - _small()


@cache
def states() -> frozenset[str]:
    """Names of states, countries and larger parts of the world."""
    return frozenset(re.sub(r"\s*\n\s*", "", PLACES).split("|"))


def is_state(text: str) -> bool:
    """Whether a text names a state, a country, or a larger part of the world."""
    return " ".join(PART.findall(unicodedata.normalize("NFKC", text).casefold())) in states()


@lru_cache(maxsize=1 << 16)
def is_everyday(text: str) -> bool:
    """Whether a text consists of everyday words, with at most two short numbers, or names a state or a country."""
    plain = " ".join(unicodedata.normalize("NFKC", text).split())
    if re.fullmatch(WHOLE, plain) or is_state(plain):
        return True
    parts = PART.findall(plain)
    words = [part for part in parts if _is_word(part)]
    ordinals = [part for part in parts if re.fullmatch(ORDINAL, part.casefold())]
    grades = [part for part in parts if part not in words and _is_grade(part)]
    numbers = [part for part in parts if part not in grades and re.fullmatch(SHORT, part.casefold())]
    counted = len(ordinals) + len(grades) + len(numbers)
    if len(words) + counted != len(parts) or len(parts) > MOST_WORDS or re.search(CLOCK, plain):
        return False
    if sum(len(part) == 1 and part.isalpha() for part in parts) > 1:
        return False  # initials, even if each letter is a unit
    return counted <= MOST_NUMBERS and (bool(words or ordinals) or len(grades) == len(parts) == 1)


def _is_word(part: str) -> bool:
    small = part.casefold()
    if small in _small():
        return part == part.lower()
    return small in _words()


def _is_grade(part: str) -> bool:
    """Whether a part tells one of a few: alone it can be a grade, several beside each other can be initials."""
    return part.casefold() in ROMAN.split() or re.fullmatch(GRADE, part.casefold()) is not None
