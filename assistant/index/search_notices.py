"""What a search tells of itself, in the language of the question."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.config.prompts import Language


@dataclass(frozen=True, slots=True)
class SearchNotice:
    """One sentence about how a search went, in both languages."""

    english: str
    chinese: str

    def text(self, language: Language) -> str:
        """The sentence in one of them."""
        return self.chinese if language == "zh" else self.english


NO_EMBEDDER = SearchNotice("Searching by words alone: no embedder is set.", "只按词查找：没有设置向量模型。")
NOT_OWNER = SearchNotice(
    "Searching by words alone, as they were indexed last: another process owns this home.",
    "只按词查找，用的是上次的索引：另一个进程正在使用这个文件夹。",
)
NO_INDEX = SearchNotice(
    "The search index cannot be used now: it is being rebuilt from the files.", "搜索索引现在不能用：正在从文件重建。"
)
FORGETTING = SearchNotice(
    "Something is being forgotten: search is back when it is gone.", "正在抹去一些内容：完成之后就可以搜索。"
)
LATE = SearchNotice(
    "Searching by words alone this time: the embedder took too long.", "这次只按词查找：向量模型用时太久。"
)
STARTING = SearchNotice(
    "Searching by words alone this time: the embedder is still being loaded.", "这次只按词查找：向量模型还在加载。"
)


def still_reading(done: int, total: int) -> SearchNotice:
    """Not every file has been read since the start."""
    return SearchNotice(
        f"Files are still being read: {done} of {total} so far.", f"还在读取文件：已读 {done}，共 {total}。"
    )


def words_for_now(error: Exception) -> SearchNotice:
    """No vectors until the cause is gone."""
    return SearchNotice(f"Searching by words alone for now: {error}", f"暂时只按词查找：{error}")


def words_this_time(error: Exception) -> SearchNotice:
    """No vectors for this question."""
    return SearchNotice(f"Searching by words alone this time: {error}", f"这次只按词查找：{error}")


def vectors_incomplete(share: float) -> SearchNotice:
    """Too few vectors are made to search by meaning."""
    return SearchNotice(
        f"Searching by words alone: {share:.0%} of the vectors are made.", f"只按词查找：向量才完成了 {share:.0%}。"
    )


def not_indexed(error: Exception) -> SearchNotice:
    """The disk refuses what was read."""
    return SearchNotice(f"Files cannot be indexed now: {error}", f"现在不能为文件建立索引：{error}")


def task_failed(name: str, error: Exception) -> SearchNotice:
    """Work in the background ended with an error and begins again."""
    return SearchNotice(f"{name} failed: {error}", f"后台任务出错（{name}）：{error}")
