"""The offline assistant's patterns: what a sentence asks for, in both languages."""

import pytest

from assistant.models.offline_requests import (
    AskMemory,
    FindFiles,
    Introduce,
    ListFiles,
    OfflineRequest,
    ReadFile,
    Remember,
    RunCommand,
    SearchFiles,
    Unclear,
    read_request,
)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Remember that my sister lives in Oslo.", Remember("my sister lives in Oslo.")),
        ("please remember: the gate code is on the fridge", Remember("the gate code is on the fridge")),
        ("Don't forget that I prefer tea\nand not coffee", Remember("I prefer tea\nand not coffee")),
        ("记住我喜欢乌龙茶", Remember("我喜欢乌龙茶")),
        ("请帮我记下：周五交报告", Remember("周五交报告")),
        ("Do you remember my sister's city?", AskMemory("Do you remember my sister's city?")),
        ("Remember when we went to Rome?", AskMemory("Remember when we went to Rome?")),
        ("What tea do I like?", AskMemory("What tea do I like?")),
        ("我喜欢什么茶", AskMemory("我喜欢什么茶")),
        ("我说过喜欢乌龙茶吗", AskMemory("我说过喜欢乌龙茶吗")),
        ("search my notes for tea", AskMemory("search my notes for tea")),
        ("搜索记忆里的茶", AskMemory("搜索记忆里的茶")),
        ("list files", ListFiles("")),
        ("Please list the files in reports/2026", ListFiles("reports/2026")),
        ("What files are there?", ListFiles("")),
        ("ls", ListFiles("")),
        ("有哪些文件？", ListFiles("")),
        ("列出所有文件", ListFiles("")),
        ("find *.md", FindFiles("*.md")),
        ("Find the file named `plan`", FindFiles("plan")),
        ("查找文件 plan.txt", FindFiles("plan.txt")),
        ("read notes.txt", ReadFile("notes.txt")),
        ("Could you open the file `my plan.md`?", ReadFile("my plan.md")),
        ("show me reports/june.csv", ReadFile("reports/june.csv")),
        ("读取 notes.txt", ReadFile("notes.txt")),
        ("看看 USER.md 的内容", ReadFile("USER.md")),
        ("search for budget", SearchFiles("budget", "")),
        ('grep "gate code" in house', SearchFiles("gate code", "house")),
        ("Which files mention the budget?", SearchFiles("the budget", "")),
        ("search files for budget", SearchFiles("budget", "")),
        ("搜索预算", SearchFiles("预算", "")),
        ("在文件中查找预算", SearchFiles("预算", "")),
        ("哪些文件提到预算？", SearchFiles("预算", "")),
        ("run `ls -l`", RunCommand("ls -l")),
        ("运行 `date`", RunCommand("date")),
        ("Hello!", Introduce()),
        ("what can you do?", Introduce()),
        ("你好", Introduce()),
        ("你能做什么？", Introduce()),
        ("I moved to Lisbon last week", Unclear("I moved to Lisbon last week")),
        ("open the door", Unclear("open the door")),
        ("我上周搬到了里斯本", Unclear("我上周搬到了里斯本")),
        ("", Unclear("")),
    ],
)
def test_a_sentence_asks_for_one_thing(text: str, asked: OfflineRequest):
    assert read_request(text) == asked
