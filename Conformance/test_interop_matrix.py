"""The interop matrix (`support/matrix.py`): it runs once, and each cell is a test. `conftest.py` prints the table."""
import pytest

from support import matrix

COLUMNS = {column.name: column.absent for column in matrix.columns()}


@pytest.fixture(scope="module")
def result(request):
    request.config.matrix = matrix.run()
    return request.config.matrix


@pytest.mark.timeout(600)
@pytest.mark.parametrize("transport", matrix.TRANSPORTS)
@pytest.mark.parametrize("row", matrix.ROWS)
@pytest.mark.parametrize("column", COLUMNS)
def test_cell(request, column, row, transport):
    if COLUMNS[column]:
        pytest.skip(COLUMNS[column])
    failure = request.getfixturevalue("result")[column][row, transport]
    assert failure is None, failure
