import { expect, test } from "vitest";
import { makeLexicon } from "../lexicon.ts";
import { NameTable } from "../names.ts";
import { readSentence } from "../read.ts";
import { ZH_HOME } from "../testkit/demo-home.ts";
import { said } from "../testkit/said.ts";
import { zh } from "./zh.ts";

const names = new NameTable(ZH_HOME);
const lexicons = [makeLexicon(zh)];

const SENTENCES: ReadonlyArray<readonly [sentence: string, meaning: string]> = [
  ["什么开着？", "ask which on or open <everything>"],
  ["厨房里有什么开着？", "ask which on or open <everything @厨房>"],
  ["家里有东西开着吗？", "ask any on or open <everything @home>"],
  ["哪些电池电量低？", "ask which low_battery <everything>"],
  ["打开厨房的灯", "turn_on <light one @厨房>"],
  ["关掉阅读灯", "turn_off or close <阅读灯>"],
  ["请把客厅的灯关掉", "turn_off <light one @客厅>"],
  ["把阅读灯调到40%", "set value 40% <阅读灯>"],
  ["把阅读灯的亮度调到百分之四十", "set brightness value 40% <阅读灯>"],
  ["前门锁了吗？", "ask yes_no locked <前门>"],
  ["厨房的窗户开着吗", "ask yes_no open <window one @厨房>"],
  ["哪些窗户开着？", "ask which open <window many>"],
  ["所有的窗户都关了吗？", "ask all closed <window all>"],
  ["卧室多少度？", "ask value temperature <@卧室>"],
  ["卧室的温度是多少", "ask value temperature <@卧室>"],
  ["浴室的湿度", "ask value humidity <@浴室>"],
  ["把暖气调到二十一度", "set temperature value 21° <heating one>"],
  ["把客厅暖气设为21.5度", "set temperature value 21.5° <客厅暖气>"],
  ["不要打开阅读灯", "? negation"],
  ["如果门开了就打开阅读灯", "? condition"],
  ["十分钟后关掉阅读灯", "? delay"],
  ["八点关掉阅读灯", "? delay"],
  ["10分钟后提醒我喝水", "remind when in_minutes 10 喝水"],
  ["每个工作日早上7点提醒我倒垃圾", "remind when every weekday at 07:00 倒垃圾"],
  ["提醒我明天早上八点半打电话", "remind when at 08:30 day tomorrow 打电话"],
  [
    "每天早上8点花园的温度",
    "briefing when every day at 08:00 asks [ask value temperature <@花园>] 每天早上8点花园的温度",
  ],
  ["洗衣机完成时告诉我", "watch <washing_machine one> condition state finished"],
  ["冰柜高于-15度时告诉我", "watch <freezer one> condition is above -15°"],
  ["硬盘还剩多少空间", "ask value disk <unsaid>"],
  ["哪些设备在线？", "devices online which"],
  ["你能做什么？", "help"],
  ["现在几点了？", "clock time"],
  ["我有哪些提醒？", "rules list reminder all true"],
  ["我有哪些规则？", "rules list all true"],
  ["取消所有提醒", "rules cancel reminder all true"],
  ["列出规则", "rules list all true"],
  ["问模型：什么是爱情？", "model 什么是爱情？"],
  ["锁上前门", "lock <前门>"],
  ["打开窗帘", "open <curtain one>"],
  ["打开百叶窗", "open <blind one>"],
  ["关闭所有的灯", "turn_off <light all>"],
  ["把阅读灯变成红色", "set color value color red <阅读灯>"],
  ["调亮阅读灯", "raise brightness <阅读灯>"],
  ["打开阅读灯和吸顶灯", "turn_on or open <阅读灯>; turn_on or open <吸顶灯>"],
  ["为什么前门开着？", "? question"],
  ["厨房灯亮着吗", "ask yes_no on <厨房灯>"],
  ["有几盏灯开着", "ask count on <light many>"],
  ["日志里最近的错误", "ask value log_errors <unsaid>"],
  ["阅读灯开着", "? no_action"],
  ["把灯关了", "turn_off <light one>"],
  ["门开了", "? no_action"],
  ["阅读灯打开", "turn_on or open <阅读灯>"],
  ["关了阅读灯", "turn_off or close <阅读灯>"],
  ["厨房灯还是开着吗", "ask yes_no on or open <厨房灯>"],
  ["阅读灯开着还是关着", "ask value state <阅读灯>"],
  ["vm的磁盘多满", "ask value disk <vm>"],
];

test.each(SENTENCES)("%s", (sentence, meaning) => {
  expect(said(readSentence(sentence, names, lexicons))).toBe(meaning);
});
