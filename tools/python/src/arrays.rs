//! Boards and arrangements as NumPy arrays, lists and texts.
//!
//! Invariant: the numbers are copied while the interpreter is held, so that they cannot change while the library works.

use numpy::{
    Element, PyArray1, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyString, PyTuple};
use tilewave::{Board, Size};

use super::errors::{exception, invalid};

/// The format of the rows of an array.
#[derive(Clone, Copy)]
pub struct Form {
    /// The number of values in a row.
    pub width: usize,
    /// For boards, rows and columns.
    pub size: Option<Size>,
    /// The largest value in a row.
    pub largest: usize,
}

impl Form {
    pub fn board(size: Size) -> Form {
        Form { width: size.cells(), size: Some(size), largest: size.tiles() }
    }

    /// For example, `boards of 3x4`.
    fn name(&self) -> String {
        match self.size {
            Some(size) => format!("{size} boards"),
            None => format!("arrangements of {} elements", self.width),
        }
    }

    fn wanted(&self) -> String {
        match self.size {
            Some(size) => format!("(.., {}) or (.., {}, {})", self.width, size.rows(), size.cols()),
            None => format!("(.., {})", self.width),
        }
    }

    /// Returns the axes that precede those of a board, or `None` if the shape does not end in a board.
    fn leading<'a>(&self, shape: &'a [usize]) -> Option<&'a [usize]> {
        if let Some((&last, leading)) = shape.split_last() {
            if last == self.width {
                return Some(leading);
            }
            let size = self.size?;
            let (&before, leading) = leading.split_last()?;
            return ((before, last) == (size.rows(), size.cols())).then_some(leading);
        }
        None
    }
}

/// The rows of an argument.
pub struct Rows {
    pub numbers: Vec<u16>,
    /// The axes that precede those of a board; empty for a single board.
    pub shape: Vec<usize>,
}

impl Rows {
    /// The number of rows.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the argument is a single board rather than an array of boards.
    pub fn is_one(&self) -> bool {
        self.shape.is_empty()
    }
}

/// Reads the text of a board or arrangement.
pub type Parse<'a> = &'a dyn Fn(&str) -> Result<Vec<u16>, tilewave::Error>;

/// Returns the board of a text, of the given size if there is one.
pub fn parse_board(text: &str, size: Option<Size>) -> Result<Board, tilewave::Error> {
    Ok(Board::parse(text, size)?)
}

/// Returns the texts of an argument that is a text or a list of texts.
pub fn texts(of: &Bound<'_, PyAny>) -> Option<(Vec<String>, bool)> {
    if let Ok(text) = of.cast::<PyString>() {
        return Some((vec![text.to_string()], true));
    }
    let items = match (of.cast::<PyList>(), of.cast::<PyTuple>()) {
        (Ok(list), _) => list.iter().collect::<Vec<_>>(),
        (_, Ok(tuple)) => tuple.iter().collect(),
        _ => return None,
    };
    let all = items.iter().map(|item| Some(item.cast::<PyString>().ok()?.to_string()));
    let all: Option<Vec<String>> = all.collect();
    all.filter(|texts| !texts.is_empty()).map(|texts| (texts, false))
}

/// Returns an argument as a numpy array.
pub fn as_array<'py>(of: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = of.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    static ASARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let asarray = ASARRAY.import(of.py(), "numpy", "asarray")?;
    Ok(asarray.call1((of,))?.cast_into()?)
}

/// Returns the rows of an argument: an integer array, nested lists, a text or a list of texts.
///
/// Errors: a ValueError names the first row that cannot be read, and says why.
pub fn rows(of: &Bound<'_, PyAny>, form: Form, parse: Parse<'_>) -> PyResult<Rows> {
    if let Some((texts, one)) = texts(of) {
        let mut numbers = Vec::with_capacity(texts.len() * form.width);
        for (row, text) in texts.iter().enumerate() {
            if row % 4096 == 4095 {
                of.py().check_signals()?;
            }
            numbers.extend(parse(text).map_err(|error| match one {
                true => exception(error),
                false => exception(tilewave::Error::Row { row, reason: Box::new(error) }),
            })?);
        }
        let shape = if one { vec![] } else { vec![texts.len()] };
        return Ok(Rows { numbers, shape });
    }
    let array = as_array(of)?;
    integers(&array)?;
    let Some(leading) = form.leading(array.shape()) else {
        return Err(invalid(format!(
            "an array of shape {:?} contains no {}: the shape must be {}",
            array.shape(),
            form.name(),
            form.wanted()
        )));
    };
    let numbers = numbers(&array, &|index, value| {
        let row = if leading.is_empty() {
            String::new()
        } else {
            format!("row {}: ", index / form.width)
        };
        let what = match form.size {
            Some(size) => format!(
                "tile {value} is not on a {size} board: its tiles are 1 to {}",
                size.tiles()
            ),
            None => format!("{value} is not an element: elements are 0 to {}", form.largest),
        };
        invalid(format!("{row}{what}"))
    })?;
    Ok(Rows { numbers, shape: leading.to_vec() })
}

/// Checks that an array has an integer type.
pub fn integers(array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    let dtype = array.dtype();
    match dtype.kind() {
        b'i' | b'u' => Ok(()),
        _ => Err(invalid(format!("the array must contain integers, not {}", dtype.str()?))),
    }
}

/// Returns the values of an integer array in index order; `wrong` makes the error for a value that is not a 16-bit
/// number, from its position.
pub fn numbers(
    array: &Bound<'_, PyUntypedArray>,
    wrong: &dyn Fn(usize, String) -> PyErr,
) -> PyResult<Vec<u16>> {
    integers(array)?;
    macro_rules! of {
        ($($type:ty),*) => {
            $(if let Ok(typed) = array.cast::<PyArrayDyn<$type>>() {
                return copied(typed, wrong);
            })*
        };
    }
    of!(u8, i64, u16, i32, i16, i8, u32, u64);
    // The bytes of each number stand in the other order.
    let native = array.call_method1("astype", ("int64",))?;
    copied(native.cast::<PyArrayDyn<i64>>()?, wrong)
}

fn copied<T: Element + Copy + TryInto<u16> + std::fmt::Display>(
    array: &Bound<'_, PyArrayDyn<T>>,
    wrong: &dyn Fn(usize, String) -> PyErr,
) -> PyResult<Vec<u16>> {
    let array = array.try_readonly().map_err(|_| invalid("the array is being written to"))?;
    // Slices of arrays in the other order exist too, in that order.
    let slice = array.as_slice().ok().filter(|_| array.is_c_contiguous());
    // Two passes without branches are faster than one that stops.
    let fits = |&value: &T| TryInto::<u16>::try_into(value).is_ok();
    let good = slice.filter(|slice| slice.iter().fold(true, |good, value| good & fits(value)));
    if let Some(slice) = good {
        let low = |&value: &T| value.try_into().unwrap_or(0);
        return Ok(slice.iter().map(low).collect());
    }
    let one = |(index, &value): (usize, &T)| {
        value.try_into().map_err(|_| wrong(index, value.to_string()))
    };
    array.as_array().iter().enumerate().map(one).collect()
}

/// Returns results as an array of the given shape.
pub fn shaped<'py, T: Element>(
    py: Python<'py>,
    values: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyArray1::from_vec(py, values).reshape(shape)?.into_any())
}

/// Returns numbers as a read-only array.
pub fn fixed<'py, T: Element>(py: Python<'py>, values: &[T]) -> PyResult<Bound<'py, PyAny>> {
    let array = PyArray1::from_slice(py, values).into_any();
    array.getattr("flags")?.setattr("writeable", false)?;
    Ok(array)
}

/// Returns one result per row: an array, or a single number for a single row.
pub fn per_row<'py, T: Element + Copy + IntoPyObject<'py>>(
    py: Python<'py>,
    values: Vec<T>,
    rows: &Rows,
) -> PyResult<Bound<'py, PyAny>> {
    match values.first().filter(|_| rows.is_one()) {
        Some(&value) => value.into_bound_py_any(py),
        None => shaped(py, values, &rows.shape),
    }
}

/// Boards or arrangements for an array: uint8, or int16 if there are more than 256 cells.
pub enum Cells {
    Bytes(Vec<u8>),
    Words(Vec<i16>),
}

impl Cells {
    /// Returns space for a number of cells in boards of the given width.
    pub fn new(width: usize, count: usize) -> Cells {
        match width <= 256 {
            true => Cells::Bytes(Vec::with_capacity(count)),
            false => Cells::Words(Vec::with_capacity(count)),
        }
    }

    pub fn extend(&mut self, numbers: Vec<u16>) {
        let numbers = numbers.into_iter();
        match self {
            Cells::Bytes(bytes) => bytes.extend(numbers.map(|n| n as u8)),
            Cells::Words(words) => words.extend(numbers.map(|n| n as i16)),
        }
    }

    pub fn shaped<'py>(self, py: Python<'py>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Cells::Bytes(bytes) => shaped(py, bytes, shape),
            Cells::Words(words) => shaped(py, words, shape),
        }
    }
}

/// Returns boards or arrangements as an array.
pub fn boards<'py>(
    py: Python<'py>,
    numbers: Vec<u16>,
    shape: &[usize],
    width: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let mut cells = Cells::new(width, numbers.len());
    cells.extend(numbers);
    cells.shaped(py, shape)
}
