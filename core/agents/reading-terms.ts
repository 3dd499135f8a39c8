/**
 * Lists the words that people use for readings, states and kinds of devices in ten languages: English, German, French, Spanish, Italian, Dutch, Polish,
 * Portuguese, Chinese, Japanese. The words of states and classes follow Home Assistant's sentences (package `home-assistant-intents`
 * 2026.10.27, Apache-2.0; github.com/OHF-Voice/intents, CC BY 4.0), the others are our own. Pure.
 */
import { lazy } from "../text/lazy.ts";
import { formsOf } from "./case-forms.ts";
import { nearWords } from "./near-words.ts";
import { fold, isUnspaced, stem } from "./words.ts";

/** One a line: a quantity or a device class, its units in brackets, and words for it. A word may be in several lines. */
const CLASSES = `
temperature [°C °F]: temperature temp warmth degrees celsius temperatur wärme grad température degrés temperatura calor grados gradi temperatuur warmte graden ciepło stopni graus 温度 溫度 气温 氣溫 気温 室温
colourtemp [K mired]: farbtemperatur kleurtemperatuur 色温
targettemp []: solltemperatur zieltemperatur richttemperatuur
humidity []: humidity feuchtigkeit feuchte luftfeuchte luftfeuchtigkeit humidité hygrométrie humedad umidità vochtigheid luchtvochtigheid wilgotność umidade humidade 湿度 濕度
soilmoisture []: bodenfeuchte bodenfeuchtigkeit
battery []: battery batterie batterien akku akkustand pile piles batería pila pilas batteria batterij batterijen accu bateria baterie 电池 电量 電池 電量 バッテリー
illuminance [lx lm]: illuminance lux illumination helligkeit beleuchtungsstärke éclairement luminosité iluminancia luminosidad illuminamento luminosità lichtsterkte helderheid natężenie jasność iluminância luminosidade 照度 光照 亮度 明るさ
brightness []: brightness helligkeit luminosité brillo luminosidad luminosità helderheid jasność brilho luminosidade 亮度 明るさ
power [W kW mW MW VA]: power watt watts wattage leistung strom stromverbrauch puissance potencia potenza vermogen moc potência 功率 电力 電力 瓦
energy [kWh Wh MWh J MJ]: energy consumption kwh energie verbrauch stromverbrauch énergie consommation energía consumo energia verbruik zużycie 能量 能耗 用电 电能 耗电 エネルギー 消費
voltage [V mV kV]: voltage volt spannung tension tensión voltaje tensione spanning napięcie tensão voltagem 电压 電壓 電圧
current [A mA]: current ampere strom stromstärke courant intensité corriente corrente stroom prąd corrente 电流 電流
pressure [hPa mbar bar Pa kPa psi mmHg]: pressure druck luftdruck pression presión pressione druk luchtdruk ciśnienie pressão 气压 压力 氣壓 気圧 圧力
carbon_dioxide []: co2 kohlendioxid kohlenstoffdioxid carbonique carbónico carbonica kooldioxide dwutlenek 二氧化碳 二酸化炭素
carbon_monoxide []: co monoxide kohlenmonoxid monoxyde monóxido monossido koolmonoxide czad tlenek 一氧化碳 一酸化炭素
pm25 []: pm25 feinstaub particules partículas particolato fijnstof pył 颗粒物
volatile_organic_compounds []: voc tvoc
aqi []: aqi luftqualität 空气质量
signal_strength [dBm dB lqi]: signal rssi linkquality lqi empfang señal segnale signaal sygnał sinal 信号 電波
wind_speed []: wind windgeschwindigkeit vent viento vento wiatr 风速 風速
speed [km/h m/s mph kn]: speed geschwindigkeit drehzahl vitesse velocidad velocità snelheid prędkość velocidade 速度
position []: position stellung posición posizione positie pozycja posição 位置
distance [km m cm mm mi]: distance entfernung abstand distancia distanza afstand odległość distância 距离 距離
weight [kg g lb]: weight gewicht poids peso waga 重量 体重
volume [L m³ mL gal]: volume volumen volumen objętość 体积
gas []: gas gaz gás 燃气 煤气 ガス
precipitation [mm/h]: rain precipitation regen niederschlag pluie lluvia pioggia deszcz chuva neerslag 降水 雨量
frequency [Hz kHz MHz GHz]: frequency frequenz fréquence frecuencia frequenza frequentie częstotliwość frequência 频率 周波数
duration [s min h d ms]: duration dauer durée duración durata duur 时长
moisture []: moisture leak water feuchtigkeit leck wasser wassermelder fuite eau fuga agua perdita acqua lek lekkage water wyciek zalanie woda vazamento água 漏水 水浸 水漏れ
smoke []: smoke rauch rauchmelder fumée humo fumo rook dym fumaça 烟雾 煙霧 煙
motion []: motion movement bewegung bewegungsmelder mouvement movimiento movimento beweging ruch 移动 移動 运动 動き 人感
occupancy []: occupancy presence anwesenheit präsenz présence presencia presenza aanwezigheid obecność presença 人体 存在 在室
vibration []: vibration erschütterung vibración vibrazione trilling wibracje vibração 振动 振動
tamper []: tamper tampering sabotage manipulation manipulación manomissione sabotaż 防拆
window []: window contact kontakt fenster fensterkontakt fenêtre fenêtres ventana finestra raam ramen okno okna okien janela 窗户 窗戶 窗 窓
door []: door contact kontakt tür türen haustür türkontakt porte puerta porta deur drzwi 门 門 ドア 扉
garage_door []: garagentor garagentür
light []: light lights lamp lamps licht lichter lampe lampen leuchte lumière lumières lampes luz luces lámpara luce luci lampada lamp verlichting światło światła lampa lampy luzes lâmpada 灯 燈 照明 ライト ランプ 電気
lock []: lock schloss türschloss serrure verrou cerradura serratura slot zamek fechadura 门锁 門鎖 锁 鎖 鍵
switch []: switch schalter interrupteur interruptor interruttore schakelaar przełącznik 开关 開關 スイッチ
outlet []: socket plug outlet steckdose prise enchufe presa stopcontact gniazdko tomada 插座 コンセント
cover []: cover blind blinds shutter curtain rollladen rollo jalousie vorhang volet store rideau persiana cortina tapparella tenda rolluik gordijn roleta rolety żaluzja zasłona estore 窗帘 卷帘 カーテン ブラインド
fan []: fan lüfter ventilator ventilateur ventilador ventilatore wentylator 风扇 扇風機
climate []: thermostat heizung klimaanlage chauffage thermostat termostato thermostaat termostat 空调 空調 エアコン
connectivity []: connectivity verbindung connexion conexión connessione verbinding połączenie 连接
update []: update aktualisierung mise actualización aggiornamento aktualizacja 更新
`;

/** The same of states: the English word that a reading's text has, and words for it. */
const STATES = `
open: opened ajar offen offene offenes offener offenen geöffnet geöffnete gekippt auf ouvert ouverte ouverts ouvertes abierto abierta abiertos abiertas aperto aperta aperti aperte geopend otwarte otwarty otwarta otwartych otwórz aberto aberta abertos abertas 打开 打開 开着 開着 开启 敞开 开了 开 開いて 開 空いて
closed: shut geschlossen geschlossene zu fermé fermée fermés fermées clos close cerrado cerrada cerrados cerradas chiuso chiusa chiusi chiuse gesloten dicht zamknięte zamknięty zamknięta fechado fechada fechados fechadas 关闭 關閉 关着 关上 关了 关 閉まって 閉じて 閉
on: an ein eingeschaltet eingeschaltete angeschaltet allumé allumée allumés allumées activé encendido encendida encendidos encendidas acceso accesa accesi accese aan włączony włączona włączone włączonych ligado ligada ligados ligadas aceso acesa 打开 打開 开着 開着 开启 开了 开 ついて 点いて オン
off: aus ausgeschaltet ausgeschaltete abgeschaltet éteint éteinte éteints éteintes apagado apagada apagados apagadas spento spenta spenti spente uit wyłączony wyłączona wyłączone desligado desligada desligados 关闭 關閉 关着 关了 关 消えて 切れて オフ
low: empty weak leer leere schwach schwache niedrig faible faibles basse bas vide baja bajo descargada scarica scarico bassa leeg laag zwak słaba słabe niska niski rozładowana rozładowane baixa fraca 低电量 电量低 低 不足 少ない
normal: ok fine normaal normalny 正常 正常
wet: damp nass nasse feucht mouillé mouillée humide mojado mojada bagnato bagnata nat natte mokro mokry mokre mokra wilgotno molhado molhada 潮湿 湿 漏水 濡れて
dry: trocken trockene sec sèche seco seca asciutto droog sucho suchy suche 干燥 乾燥
detected: triggered erkannt ausgelöst entdeckt détecté détectée détectés déclenché detectado detectada rilevato rilevata rilevati gedetecteerd wykryto wykryty wykryte detetado 检测 檢測 触发 偵測 検知 検出
clear: keine keiner aucun aucune ninguno nessuno geen brak nenhum 无人 沒有 没有 なし
occupied: belegt besetzt anwesend occupé occupée présent ocupado ocupada occupato occupata bezet zajęte zajęty aanwezig obecny 有人 占用 在席
locked: verriegelt abgeschlossen zugesperrt verschlossen verrouillé verrouillée verrouillés verrouillées bloqueado bloqueada bloccato bloccata vergrendeld zablokowane zablokowany zablokowana zaryglowane trancado trancada 上锁 锁着 锁定 锁上 已锁 鎖 施錠
unlocked: entriegelt aufgeschlossen aufgesperrt unverschlossen déverrouillé déverrouillée déverrouillées desbloqueado desbloqueada sbloccato sbloccata ontgrendeld odblokowane odblokowany odblokowana destrancado destrancada 解锁 未锁 没锁 開錠 解錠
home: zuhause daheim maison casa thuis domu 在家 在宅
away: abwesend weg absent absente fuera via afwezig poza nieobecny fora 外出 离家 留守
problem: störung fehler panne défaut problème problema storing awaria erro 故障 问题 異常
charging: lädt laden charge cargando ricarica opladen ładowanie ładuje carregando 充电 充電
connected: verbunden connecté connectée conectado conectada connesso verbonden połączony podłączony 已连接 接続
disconnected: getrennt déconnecté desconectado disconnesso losgekoppeld rozłączony odłączony 断开 切断
moving: bewegt bouge moviendo muove beweegt rusza 移动 動いて
running: läuft marche funcionando funzione draait działa pracuje 运行 動作
heating: heizt chauffe calentando riscalda verwarmt grzeje aquecendo 加热 制热 暖房
cooling: kühlt refroidit enfriando raffredda koelt chłodzi 制冷 冷房
hot: heiß chaud chaude caliente caldo heet gorąco 热
cold: kalt froid froide frío freddo koud zimno 冷
unsafe: unsicher
idle: leerlauf 空闲
`;

/** Two and more words for one. Of folded texts; the order counts. */
const PHRASES: ReadonlyArray<[RegExp, string]> = [
  [
    /\bcolou?r[ _-]?temp(?:erature)?s?\b|\btemperature de (?:la )?couleur\b|\btemperatura (?:del? |di )?(?:color|colore|cor)\b|\btemperatura barw\w+/g,
    "colourtemp",
  ],
  [
    /\b(?:target|set|desired)[ _-]?(?:point )?temp(?:erature)?\b|\bset ?point\b|\b(?:temperature de )?consigne\b|\btemperatura (?:objetivo|impostata|zadana|alvo)\b|(?:目标|目標|設定|设定)温度/g,
    "targettemp",
  ],
  [/\bsoil (?:moisture|humidity)\b|土壤湿度|土壤水分/g, "soilmoisture"],
  [/\bpm ?2[.,_]5\b/g, "pm25"],
  [/\bco ?₂/g, "co2"],
];

export type Term = { of: "class" | "state"; name: string };

type Terms = {
  byWord: ReadonlyMap<string, readonly Term[]>;
  /** Classes by their words' stems. States are told by the very word: an open door is not opening, and a lock need not be locked. */
  byStem: ReadonlyMap<string, readonly Term[]>;
  byUnit: ReadonlyMap<string, string>;
  /** Words of scripts without blanks, the longest first. */
  unspaced: readonly string[];
  groups: ReadonlyArray<readonly string[]>;
};
const terms = lazy(makeTerms);

function makeTerms(): Terms {
  const byWord = new Map<string, Term[]>();
  const byStem = new Map<string, Term[]>();
  const byUnit = new Map<string, string>();
  const groups: string[][] = [];
  for (const line of CLASSES.trim().split("\n")) {
    const [, name = "", units = "", words = ""] = /^(\w+) \[(.*?)\]: (.*)$/.exec(line) ?? [];
    const folded = fold(words).split(" ");
    for (const word of [name, ...folded]) {
      add(byWord, word, { of: "class", name });
      add(byStem, stem(word), { of: "class", name });
    }
    for (const unit of units.split(" ").filter(Boolean)) byUnit.set(unit, name);
    groups.push([...new Set([...folded, name].map(stem))]);
  }
  for (const line of STATES.trim().split("\n")) {
    const [name = "", words = ""] = line.split(": ");
    for (const word of [name, ...fold(words).split(" ")]) add(byWord, word, { of: "state", name });
  }
  const unspaced = [...byWord.keys()].filter(isUnspaced).sort((a, b) => b.length - a.length);
  return { byWord, byStem, byUnit, unspaced, groups };
}

function add(terms: Map<string, Term[]>, word: string, term: Term): void {
  const known = terms.get(word) ?? [];
  terms.set(word, known);
  if (!known.some(({ of, name }) => of === term.of && name === term.name)) known.push(term);
}

/** Words of one meaning, a group an entry, folded and stemmed: for the search of agents by their words. */
export function classGroups(): ReadonlyArray<readonly string[]> {
  return terms().groups;
}

/** The classes and states that a word may mean; also for another form of it, or with a slip. @param word folded */
export function termsOf(word: string): readonly Term[] {
  const { byWord, byStem } = terms();
  const own = byWord.get(word) ?? byStem.get(stem(word));
  if (own || isUnspaced(word) || /\d/.test(word)) return own ?? [];
  const forms = formsOf(word, byWord.keys());
  const near = forms.length > 0 ? forms : nearWords(word, byWord.keys());
  return near.flatMap((one) => byWord.get(one) ?? []);
}

/** The states that a word tells without any doubt. @param word folded */
export function statesOf(word: string): string[] {
  return (terms().byWord.get(word) ?? []).flatMap(({ of, name }) => (of === "state" ? [name] : []));
}

/** The classes that a word names without any doubt. @param word folded */
export function classesOf(word: string): string[] {
  const { byWord, byStem } = terms();
  const own = byWord.get(word) ?? byStem.get(stem(word)) ?? [];
  return own.flatMap(({ of, name }) => (of === "class" ? [name] : []));
}

/** The class that a unit tells; undefined: several have it, as `%`. */
export function classOfUnit(unit: string): string | undefined {
  return terms().byUnit.get(unit);
}

/** A text with the phrases of several words as one. @param text folded */
export function withPhrases(text: string): string {
  return PHRASES.reduce((left, [phrase, word]) => left.replace(phrase, word), text);
}

/** Puts blanks around known words of a text that has none between words: 窗户打开 → 窗户 打开. */
export function spaced(text: string): string {
  if (!isUnspaced(text)) return text;
  const { unspaced } = terms();
  let left = "";
  for (let at = 0; at < text.length; ) {
    const word = unspaced.find((one) => text.startsWith(one, at));
    left += word === undefined ? text.charAt(at) : ` ${word} `;
    at += word?.length ?? 1;
  }
  return left;
}
