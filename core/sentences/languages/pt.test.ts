import { expect, test } from "vitest";
import { makeLexicon } from "../lexicon.ts";
import { NameTable } from "../names.ts";
import { readSentence } from "../read.ts";
import { PT_HOME } from "../testkit/demo-home.ts";
import { said } from "../testkit/said.ts";
import { pt } from "./pt.ts";

const names = new NameTable(PT_HOME);
const lexicons = [makeLexicon(pt)];

const SENTENCES: ReadonlyArray<readonly [sentence: string, meaning: string]> = [
  ["O que está aberto?", "ask which open <everything>"],
  ["Há alguma coisa ligada?", "ask any on <everything>"],
  ["Que pilhas estão fracas?", "ask which low_battery <everything>"],
  ["Liga o candeeiro de leitura", "turn_on <Candeeiro de leitura>"],
  ["Você pode acender a luz da cozinha?", "turn_on <Luz da cozinha>"],
  ["Desligue todas as luzes da cozinha, por favor", "turn_off <light all @Cozinha>"],
  ["desliga as luzes da cozinha", "turn_off <light many @Cozinha>"],
  ["Podes apagar a luz da casa de banho?", "turn_off <Luz da casa de banho>"],
  ["quero que ligues o candeeiro da secretária", "turn_on <Candeeiro da secretária>"],
  ["fecha os estores", "close <shutter many>"],
  ["desliga-a", "turn_off <it>"],
  ["liga-os", "turn_on <them>"],
  ["desliga tudo na cozinha", "turn_off <everything @Cozinha>"],
  ["desliga a cozinha", "? no_target"],
  ["liga a luz e desliga a televisão", "turn_on <light one>; turn_off <television one>"],
  ["tranca a porta da frente", "lock <Porta da frente>"],
  ["Certifica-te de que a porta da frente está trancada", "lock <Porta da frente>"],
  ["põe o aquecimento a 21 graus", "set temperature value 21° <heating one>"],
  [
    "Ajusta o aquecimento da sala para vinte e um graus e meio",
    "set temperature value 21.5° <Aquecimento da sala>",
  ],
  ["Candeeiro de leitura a 40 por cento", "set value 40% <Candeeiro de leitura>"],
  ["põe o candeeiro de leitura a vermelho", "set color value color red <Candeeiro de leitura>"],
  ["abre os estores até metade", "set position value 50% <shutter many>"],
  ["aumenta o volume em 10 por cento", "raise volume by 10% <unsaid>"],
  ["manda o aspirador para a base", "dock <vacuum one>"],
  ["Que temperatura está no quarto?", "ask value temperature <@Quarto>"],
  ["Qual é a temperatura do congelador?", "ask value temperature <freezer one>"],
  ["A porta da frente está trancada?", "ask yes_no locked <Porta da frente>"],
  ["Que janelas estão abertas?", "ask which open <window many>"],
  ["Quantas luzes estão acesas?", "ask count on <light many>"],
  ["Há alguma janela aberta?", "ask any open <window any>"],
  ["Todas as janelas estão fechadas?", "ask all closed <window all>"],
  ["Avisa-me quando a máquina de lavar terminar", "watch <washing_machine one> condition state finished"],
  ["Lembra-me daqui a 10 minutos de tirar a pizza", "remind when in_minutes 10 tirar a pizza"],
  ["Lembra-me amanhã às 8:30 de ligar ao Paulo", "remind when at 08:30 day tomorrow ligar ao Paulo"],
  ["não ligues o candeeiro de leitura", "? negation"],
  ["desliga tudo menos o candeeiro de leitura", "? exception"],
  ["desliga o candeeiro de leitura daqui a 10 minutos", "? delay"],
  ["desliga o candeeiro de leitura às 8", "? delay"],
  ["liga o candeeiro de leitura quando a porta abrir", "? condition"],
  ["Porque está ligado o candeeiro de leitura?", "? question"],
  ["Que dispositivos estão online?", "devices online which"],
  ["Que lembretes tenho?", "rules list reminder all true"],
  ["Quais regras eu tenho?", "rules list all true"],
  ["cancela todos os lembretes", "rules cancel reminder all true"],
  ["O que podes fazer?", "help"],
  ["Que horas são?", "clock time"],
];

test.each(SENTENCES)("%s", (sentence, meaning) => {
  expect(said(readSentence(sentence, names, lexicons))).toBe(meaning);
});
