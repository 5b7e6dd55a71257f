//! Tiles: a few hundred rows, column by column, whatever the layout and the type they come from.

/// Rows in a tile: K columns of them lie in the first-level cache.
pub(crate) const TILE: usize = 256;

/// A floating-point type of scores.
pub(crate) trait Real: Copy + Default + Send + Sync + 'static {
    fn single(self) -> f32;
    fn double(self) -> f64;
}

impl Real for f32 {
    #[inline(always)]
    fn single(self) -> f32 {
        self
    }
    #[inline(always)]
    fn double(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    #[inline(always)]
    fn single(self) -> f32 {
        self as f32
    }
    #[inline(always)]
    fn double(self) -> f64 {
        self
    }
}

/// Something that yields rows of scores in tiles.
pub(crate) trait Rows: Sync {
    type Elem: Real;

    fn rows(&self) -> usize;
    fn classes(&self) -> usize;

    /// A bound on the absolute value of the scores, for the error of single precision.
    fn magnitude(&self) -> f32;

    /// Loads the rows from `start`: [`TILE`] of them, or as many as there are.
    fn load(&self, start: usize, tile: &mut Tile<Self::Elem>);

    /// One score.
    fn score(&self, row: usize, class: usize) -> Self::Elem;
}

/// Some rows, column by column, [`TILE`] values a column. Rows beyond [`len`](Self::len) are zeros.
pub(crate) struct Tile<T> {
    values: Vec<T>,
    len: usize,
}

impl<T: Real> Tile<T> {
    pub(crate) fn new(classes: usize) -> Tile<T> {
        Tile { values: vec![T::default(); classes * TILE], len: 0 }
    }

    /// How many of its rows are filled.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// All columns, one after the other.
    #[inline(always)]
    pub(crate) fn columns(&self) -> &[T] {
        &self.values
    }

    /// The scores of one row, class by class.
    #[inline(always)]
    pub(crate) fn row(&self, lane: usize) -> impl Iterator<Item = T> + '_ {
        self.values[lane..].iter().step_by(TILE).copied()
    }

    /// One score.
    #[inline(always)]
    pub(crate) fn score(&self, lane: usize, class: usize) -> T {
        self.values[class * TILE + lane]
    }

    /// Writes one row; rows up to the last one written count as filled.
    pub(crate) fn write(&mut self, lane: usize, score: impl Fn(usize) -> T) {
        self.len = self.len.max(lane + 1);
        for (class, value) in self.values[lane..].iter_mut().step_by(TILE).enumerate() {
            *value = score(class);
        }
    }

    /// Takes rows from a function of (lane, class): `len` of them, or as many as find room.
    pub(crate) fn fill(&mut self, len: usize, score: impl Fn(usize, usize) -> T) {
        let len = len.min(TILE);
        self.len = len;
        for (class, column) in self.values.chunks_exact_mut(TILE).enumerate() {
            for (lane, value) in column.iter_mut().enumerate() {
                *value = if lane < len { score(lane, class) } else { T::default() };
            }
        }
    }

    /// Takes rows that lie one after the other.
    #[inline(always)]
    fn transpose(&mut self, rows: &[T], classes: usize) {
        if rows.len() < TILE * classes {
            return self.fill(rows.len() / classes, |lane, class| rows[lane * classes + class]);
        }
        self.len = TILE;
        match classes {
            2 => transpose_full::<2, T>(rows, &mut self.values),
            3 => transpose_full::<3, T>(rows, &mut self.values),
            4 => transpose_full::<4, T>(rows, &mut self.values),
            5 => transpose_full::<5, T>(rows, &mut self.values),
            6 => transpose_full::<6, T>(rows, &mut self.values),
            7 => transpose_full::<7, T>(rows, &mut self.values),
            8 => transpose_full::<8, T>(rows, &mut self.values),
            _ => {
                for (lane, row) in rows[..TILE * classes].chunks_exact(classes).enumerate() {
                    for (class, &value) in row.iter().enumerate() {
                        self.values[class * TILE + lane] = value;
                    }
                }
            }
        }
    }

    /// Takes a stretch of each column.
    #[inline(always)]
    fn gather(&mut self, columns: &[&[T]], start: usize) {
        let len = (columns[0].len() - start).min(TILE);
        self.len = len;
        for (column, into) in columns.iter().zip(self.values.chunks_exact_mut(TILE)) {
            into[..len].copy_from_slice(&column[start..start + len]);
            into[len..].fill(T::default());
        }
    }
}

/// The usual numbers of classes as constants: the inner loop unrolls and vectorises.
#[inline(always)]
fn transpose_full<const K: usize, T: Real>(rows: &[T], columns: &mut [T]) {
    let (rows, columns) = (&rows[..TILE * K], &mut columns[..TILE * K]);
    for lane in 0..TILE {
        for class in 0..K {
            columns[class * TILE + lane] = rows[lane * K + class];
        }
    }
}

/// One row-major matrix, or a column for each class.
#[derive(Clone, Debug)]
pub(crate) enum Layout<'a, T> {
    RowMajor(&'a [T]),
    Columns(&'a [&'a [T]]),
}

/// Scores used as they lie.
#[derive(Clone, Debug)]
pub(crate) struct Plain<'a, T> {
    pub(crate) layout: Layout<'a, T>,
    pub(crate) classes: usize,
    pub(crate) magnitude: f32,
}

impl<T: Real> Rows for Plain<'_, T> {
    type Elem = T;

    fn rows(&self) -> usize {
        match self.layout {
            Layout::RowMajor(values) => values.len() / self.classes,
            Layout::Columns(columns) => columns[0].len(),
        }
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn magnitude(&self) -> f32 {
        self.magnitude
    }

    #[inline(always)]
    fn load(&self, start: usize, tile: &mut Tile<T>) {
        match self.layout {
            Layout::RowMajor(values) => tile.transpose(&values[start * self.classes..], self.classes),
            Layout::Columns(columns) => tile.gather(columns, start),
        }
    }

    #[inline(always)]
    fn score(&self, row: usize, class: usize) -> T {
        match self.layout {
            Layout::RowMajor(values) => values[row * self.classes + class],
            Layout::Columns(columns) => columns[class][row],
        }
    }
}
