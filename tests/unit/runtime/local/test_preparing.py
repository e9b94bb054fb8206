"""Which cells are kept ready, without making real ones."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from arenero.errors import ResourceExhausted
from arenero.model.record import ResolvedSource
from arenero.runtime.local.cells import Cell
from arenero.runtime.local.preparing import Kind, Prepared, Stock
from arenero.runtime.local.sources import Base
from arenero.runtime.local.zygote import Built

pytestmark = pytest.mark.looptime
BASE = Base(ResolvedSource("host", "template:host"), ("/layer",))
SMALL, LARGE = Kind(BASE, 1 << 20), Kind(BASE, 1 << 30)


class Workshop:
    """Makes and drops cells on paper."""

    def __init__(self) -> None:
        self.made: list[Kind] = []
        self.dropped: list[str] = []
        self.fails = False

    async def make(self, kind: Kind) -> Prepared:
        await asyncio.sleep(0)
        if self.fails:
            raise ResourceExhausted("no room")
        self.made.append(kind)
        built: asyncio.Future[Built] = asyncio.get_running_loop().create_future()
        return Prepared(Cell(Path("/cells/x"), f"c{len(self.made)}", len(self.made), kind.disk_bytes), built)

    async def drop(self, cell: Cell) -> None:
        self.dropped.append(cell.name)


@pytest.fixture
def workshop() -> Workshop:
    return Workshop()


@pytest.fixture
async def stock(workshop: Workshop) -> AsyncIterator[Stock]:
    stock = Stock(2, workshop.make, workshop.drop)
    yield stock
    await stock.close()


async def start(stock: Stock, kind: Kind) -> Prepared | None:
    """Take part in a start: take, be busy, be done; then give the stock its time."""
    prepared = stock.take(kind)
    stock.begin()
    stock.end()
    await asyncio.sleep(0.1)
    return prepared


async def test_nothing_is_made_before_somebody_asks(stock: Stock, workshop: Workshop) -> None:
    await asyncio.sleep(0.05)
    assert workshop.made == []
    assert stock.take(SMALL) is None


async def test_it_fills_up_after_a_start_with_the_kind_that_was_asked_for(stock: Stock, workshop: Workshop) -> None:
    assert await start(stock, SMALL) is None
    assert workshop.made == [SMALL, SMALL]
    prepared = await start(stock, SMALL)
    assert prepared is not None
    assert prepared.cell.name == "c1"
    assert workshop.made == [SMALL] * 3


async def test_it_makes_nothing_while_a_start_is_under_way(stock: Stock, workshop: Workshop) -> None:
    stock.take(SMALL)
    stock.begin()
    await start(stock, SMALL)
    assert workshop.made == []
    stock.end()
    await asyncio.sleep(0.1)
    assert workshop.made == [SMALL, SMALL]


async def test_another_kind_replaces_what_is_there(stock: Stock, workshop: Workshop) -> None:
    await start(stock, SMALL)
    assert await start(stock, LARGE) is None
    assert sorted(workshop.dropped) == ["c1", "c2"]
    prepared = await start(stock, LARGE)
    assert prepared is not None
    assert prepared.cell.disk_bytes == LARGE.disk_bytes


async def test_closing_drops_what_is_there(workshop: Workshop) -> None:
    stock = Stock(2, workshop.make, workshop.drop)
    await start(stock, SMALL)
    await stock.close()
    assert workshop.dropped == ["c1", "c2"]


async def test_a_failure_is_left_to_whoever_asks_next(stock: Stock, workshop: Workshop) -> None:
    workshop.fails = True
    assert await start(stock, SMALL) is None
    assert workshop.made == []
    assert stock.take(SMALL) is None


async def test_a_size_of_zero_prepares_nothing(workshop: Workshop) -> None:
    stock = Stock(0, workshop.make, workshop.drop)
    await start(stock, SMALL)
    assert workshop.made == []
    await stock.close()
