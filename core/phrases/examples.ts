/** Sentences that a person may say, by what they do. Each is tried before it is shown, so one that is read otherwise is left out. */
import type { Language } from "../text/languages.ts";

export type Example =
  | "turn_on"
  | "turn_off"
  | "is_on"
  | "is_open"
  | "is_locked"
  | "temperature"
  | "state"
  | "when_open"
  | "when_on"
  | "when_offline"
  | "online";

/** `{name}` stands where it needs no article and no case. */
const EXAMPLES: Readonly<Record<Language, Readonly<Record<Example, string>>>> = {
  en: {
    turn_on: "turn on {name}",
    turn_off: "turn off {name}",
    is_on: "is {name} on?",
    is_open: "is {name} open?",
    is_locked: "is {name} locked?",
    temperature: "what is the temperature of {name}?",
    state: "what is the state of {name}?",
    when_open: "tell me when {name} is open",
    when_on: "tell me when {name} is on",
    when_offline: "tell me when {name} is offline",
    online: "which devices are online?",
  },
  de: {
    turn_on: "schalte {name} ein",
    turn_off: "schalte {name} aus",
    is_on: "ist {name} an?",
    is_open: "ist {name} offen?",
    is_locked: "ist {name} abgeschlossen?",
    temperature: "wie warm ist {name}?",
    state: "wie ist der Zustand von {name}?",
    when_open: "sag mir, wenn {name} offen ist",
    when_on: "sag mir, wenn {name} an ist",
    when_offline: "sag mir, wenn {name} offline ist",
    online: "welche Geräte sind online?",
  },
  fr: {
    turn_on: "allume {name}",
    turn_off: "éteins {name}",
    is_on: "est-ce que {name} est allumé ?",
    is_open: "est-ce que {name} est ouvert ?",
    is_locked: "est-ce que {name} est verrouillé ?",
    temperature: "quelle est la température de {name} ?",
    state: "quel est l'état de {name} ?",
    when_open: "préviens-moi quand {name} est ouvert",
    when_on: "préviens-moi quand {name} est allumé",
    when_offline: "préviens-moi quand {name} est hors ligne",
    online: "quels appareils sont en ligne ?",
  },
  es: {
    turn_on: "enciende {name}",
    turn_off: "apaga {name}",
    is_on: "¿está encendido {name}?",
    is_open: "¿está abierto {name}?",
    is_locked: "¿está cerrado con llave {name}?",
    temperature: "¿qué temperatura tiene {name}?",
    state: "¿cuál es el estado de {name}?",
    when_open: "avísame cuando {name} esté abierto",
    when_on: "avísame cuando {name} esté encendido",
    when_offline: "avísame cuando {name} esté desconectado",
    online: "¿qué dispositivos están en línea?",
  },
  it: {
    turn_on: "accendi {name}",
    turn_off: "spegni {name}",
    is_on: "{name} è acceso?",
    is_open: "{name} è aperto?",
    is_locked: "{name} è chiuso a chiave?",
    temperature: "qual è la temperatura di {name}?",
    state: "qual è lo stato di {name}?",
    when_open: "avvisami quando {name} è aperto",
    when_on: "avvisami quando {name} è acceso",
    when_offline: "avvisami quando {name} è offline",
    online: "quali dispositivi sono online?",
  },
  nl: {
    turn_on: "zet {name} aan",
    turn_off: "zet {name} uit",
    is_on: "is {name} aan?",
    is_open: "is {name} open?",
    is_locked: "is {name} op slot?",
    temperature: "wat is de temperatuur van {name}?",
    state: "wat is de status van {name}?",
    when_open: "zeg het me als {name} open is",
    when_on: "zeg het me als {name} aan is",
    when_offline: "zeg het me als {name} offline is",
    online: "welke apparaten zijn online?",
  },
  pl: {
    turn_on: "włącz {name}",
    turn_off: "wyłącz {name}",
    is_on: "czy {name} jest włączone?",
    is_open: "czy {name} jest otwarte?",
    is_locked: "czy {name} jest zamknięte na klucz?",
    temperature: "jaka jest temperatura {name}?",
    state: "jaki jest stan {name}?",
    when_open: "powiedz mi, kiedy {name} jest otwarte",
    when_on: "powiedz mi, kiedy {name} jest włączone",
    when_offline: "powiedz mi, kiedy {name} jest offline",
    online: "które urządzenia są online?",
  },
  pt: {
    turn_on: "liga {name}",
    turn_off: "desliga {name}",
    is_on: "{name} está ligado?",
    is_open: "{name} está aberto?",
    is_locked: "{name} está trancado?",
    temperature: "qual é a temperatura de {name}?",
    state: "qual é o estado de {name}?",
    when_open: "avisa-me quando {name} estiver aberto",
    when_on: "avisa-me quando {name} estiver ligado",
    when_offline: "avisa-me quando {name} estiver offline",
    online: "que dispositivos estão online?",
  },
  cs: {
    turn_on: "zapni {name}",
    turn_off: "vypni {name}",
    is_on: "je {name} zapnuté?",
    is_open: "je {name} otevřené?",
    is_locked: "je {name} zamčené?",
    temperature: "jaká je teplota {name}?",
    state: "jaký je stav {name}?",
    when_open: "řekni mi, až bude {name} otevřené",
    when_on: "řekni mi, až bude {name} zapnuté",
    when_offline: "řekni mi, až bude {name} offline",
    online: "která zařízení jsou online?",
  },
  zh: {
    turn_on: "打开{name}",
    turn_off: "关闭{name}",
    is_on: "{name}开着吗？",
    is_open: "{name}开着吗？",
    is_locked: "{name}锁了吗？",
    temperature: "{name}的温度是多少？",
    state: "{name}的状态是什么？",
    when_open: "{name}打开时告诉我",
    when_on: "{name}打开时告诉我",
    when_offline: "{name}离线时告诉我",
    online: "哪些设备在线？",
  },
};

export function exampleOf(language: Language, example: Example, name: string): string {
  return EXAMPLES[language][example].replace("{name}", () => name);
}
