"""Words that columns of clinical tables consist of, in English and German: a text of such words names nobody.

Names of people, of places smaller than a state, of firms and of products are not in the list. Words that are also
frequent family names (`cook`, `farmer`) count in small letters only.
"""

from __future__ import annotations

import re
from functools import cache

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
    employed unemployed self emp retired pensioner student pupil apprentice trainee homemaker worker workers
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
PHRASES = ("self emp inc", "self emp not inc")
"""Whole texts with a word that otherwise belongs to the name of a firm."""
DIRECTIONS = "north south east west northern southern eastern western nord süd ost"
HOUSES = """
    house home shop warehouse office bank school kindergarten college university clinic hospital ward department hospice
    unit site sites
    heim pflegeheim klinik krankenhaus tagesklinik büro kasse volksschule hauptschule mittelschule gymnasium
"""
"""Words that with a number or a direction name one house: `ward II`, `Klinik Süd`."""
TELLING = """
    first second third fourth last erste zweite dritte vierte letzte old new alt neu red blue yellow white black bright
    rot blau gelb
"""
"""Words that tell houses apart when they stand beside them: `second ward`, `old hospital`."""
NUMBERED = DIRECTIONS + " region rural urban land " + HOUSES
"""Words that with a number name one place or house: `region 12`."""
PERSONS = """
    women men woman man girl boy female male single partner spouse child mother father
    frauen männer mädchen kind mutter vater säugling neugeborenes newborn infant family familie
"""
"""Words for a person, who with a letter beside them can be one person: `child B`."""
JOBS = """
    employee employees worker workers servant servants official officials student pupil apprentice trainee retired
    prof professional assistant handlers cleaners teacher nurse physician pharmacist midwife technician engineer
    scientist lawyer judge electrician mechanic bricklayer metalworker plumber hairdresser waiter cleaner clerk
    accountant driver operator officer firefighter librarian journalist artist musician programmer developer
    schüler schülerin student studentin lehrling arbeiter arbeiterin beamter beamtin lehrer lehrerin
    krankenschwester krankenpfleger pflegekraft ärztin hebamme techniker technikerin ingenieur ingenieurin verkäufer
    verkäuferin elektriker mechaniker rentner rentnerin pensionist pensionistin
"""
"""Words for a person, after which a letter or a name can follow: `nurse B`, `nurse Stark`."""
ALSO_NAMES = """
    herz kind zahn leber krebs stark gut schlecht leicht schwer mittel alt neu hoch voll wild darm mund hals ohr auge
    haut bein blut links gering gleich rot black white law day house major head hand light strong west east self ward
    low large small best fair good poor tall bright hale marks lung foot major minor early beard page senior old back
    dunkel hell früh spät handel magen knie
"""
"""Words that are also family names, in capital letters."""
LINKS = "of and the von und der die das dem den des"
"""Words that can be between a name and what tells that it is one: `child of Stark`."""
TERMS = frozenset(
    re.split(
        r"\s*\|\s*",
        "high school|some high school|law school|day school|day hospital|day clinic|house officer|ward nurse|head nurse"
        "|small large|low high|high low|good fair|fair good|fair poor|poor fair|good poor"
        "|leicht mittel|mittel leicht|mittel schwer|schwer mittel|gering mittel|mittel hoch|hoch mittel|gering hoch"
        "|gut mittel|mittel schlecht|alt und neu|head back|hals und mund|mund und hals|auge und ohr|ohr und auge"
        "|leber und magen|magen und darm|magen darm|hand and foot|foot and hand|head and back|hand foot"
        "|minor head|major head|early lung|small hospital|large hospital|old man|old woman|low back|retired early"
        "|black white|white black",
    )
)
"""Words beside each other that are known terms, although one of them is also a name."""
RANKED = """
    grade stage class type level group category phase cycle degree
    grad stadium klasse typ stufe gruppe kategorie zyklus
"""
"""Words of which there are a few, told apart by small numbers: `grade 3`."""
SCORED = "score"
"""Words after which any short number can stand."""
COUNTED = """
    years year months month weeks week days day hours hour minutes minute seconds times
    jahre jahr monate monat wochen woche tage tag stunden stunde minuten percent prozent points punkte euro eur usd
    dollar mmhg mmol mol child children kind kinder cigarettes zigaretten drugs medikamente
"""
"""What is counted or measured: `12 days`."""
UNITS = "kg g mg µg mcg l ml dl cm mm m k iu ie u mmhg mmol mol"
"""Units: beside anything but a number they could be initials."""
BOUNDS = "least most up over under above below between about than to bis über unter ab"
"""Words before a number of something that is counted: `over 60`."""
AMOUNTS = """
    years year months month weeks week days day hours hour minutes minute seconds jahre jahr monate monat wochen woche
    tage tag stunden stunde minuten times percent prozent points punkte
    euro eur usd dollar least most up over under above below between about north south east west northern southern
    eastern western nord süd ost region rural urban ländlich städtisch abroad ausland inland domestic foreign
"""
ROMAN = "i ii iii iv v vi vii viii ix x xi xii"


@cache
def set_of(text: str) -> frozenset[str]:
    """The words of a list, in small letters."""
    return frozenset(text.casefold().split())


@cache
def words() -> frozenset[str]:
    """All words that are written in small or capital letters."""
    texts = (ANSWERS, PEOPLE, WORK, COLOURS, MEDICINE, AMOUNTS)
    return frozenset(word for text in texts for word in text.casefold().replace("-", " ").split()) - set_of(LOWER_ONLY)


@cache
def states() -> frozenset[str]:
    """Names of states, countries and larger parts of the world."""
    return frozenset(re.sub(r"\s*\n\s*", "", PLACES).split("|"))
