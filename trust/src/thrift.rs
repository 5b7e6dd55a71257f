//! Thrift's compact protocol as a tree that can be changed and written again. Parquet uses it for its footer and page
//! headers.

/// A value with its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// An integer of 8 bits.
    Byte(u8),
    /// An integer of 16, 32 or 64 bits, by its type code 4, 5 or 6.
    Integer(u8, i64),
    /// A double.
    Double([u8; 8]),
    /// Bytes or text.
    Binary(Vec<u8>),
    /// A list or a set, by its type code 9 or 10, and the type code of its elements.
    List(u8, u8, Vec<Value>),
    /// A struct: field numbers and values.
    Struct(Vec<(i16, Value)>),
}

/// The maximum nesting depth.
const DEEPEST: usize = 24;

/// Reads a struct at the start of some bytes; returns it and its length, or `None` if it is invalid.
pub fn read_struct(bytes: &[u8]) -> Option<(Value, usize)> {
    let mut reader = Reader { bytes, at: 0 };
    let value = reader.structure(0)?;
    Some((value, reader.at))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn integer(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn structure(&mut self, depth: usize) -> Option<Value> {
        let (mut fields, mut last) = (Vec::new(), 0i16);
        loop {
            let head = self.byte()?;
            let kind = head & 0x0f;
            if kind == 0 {
                return Some(Value::Struct(fields));
            }
            let number = match head >> 4 {
                0 => self.integer()? as i16,
                step => last.checked_add(i16::from(step))?,
            };
            last = number;
            let value = match kind {
                1 => Value::Bool(true),
                2 => Value::Bool(false),
                _ => self.value(kind, depth + 1)?,
            };
            fields.push((number, value));
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        match kind {
            1 | 2 => Some(Value::Bool(self.byte()? == 1)),
            3 => self.byte().map(Value::Byte),
            4..=6 => self.integer().map(|number| Value::Integer(kind, number)),
            7 => {
                let bytes = self.bytes.get(self.at..self.at + 8)?.try_into().ok()?;
                self.at += 8;
                Some(Value::Double(bytes))
            }
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                let bytes = self.bytes.get(self.at..self.at.checked_add(length)?)?.to_vec();
                self.at += length;
                Some(Value::Binary(bytes))
            }
            9 | 10 => {
                let head = self.byte()?;
                let length = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                if length > self.bytes.len() as u64 {
                    return None;
                }
                let of = head & 0x0f;
                let values = (0..length).map(|_| self.value(of, depth + 1)).collect::<Option<Vec<_>>>()?;
                Some(Value::List(kind, of, values))
            }
            12 => self.structure(depth),
            _ => None,
        }
    }
}

impl Value {
    /// Writes the value, without its type.
    pub fn write(&self, into: &mut Vec<u8>) {
        match self {
            Value::Bool(value) => into.push(if *value { 1 } else { 2 }),
            Value::Byte(value) => into.push(*value),
            Value::Integer(_, value) => write_integer(*value, into),
            Value::Double(bytes) => into.extend(bytes),
            Value::Binary(bytes) => {
                write_varint(bytes.len() as u64, into);
                into.extend(bytes);
            }
            Value::List(_, of, values) => {
                if values.len() < 15 {
                    into.push((values.len() as u8) << 4 | of);
                } else {
                    into.push(0xf0 | of);
                    write_varint(values.len() as u64, into);
                }
                values.iter().for_each(|value| value.write(into));
            }
            Value::Struct(fields) => {
                let mut last = 0i16;
                for (number, value) in fields {
                    let kind = value.kind();
                    match number.checked_sub(last) {
                        Some(step @ 1..=15) => into.push((step as u8) << 4 | kind),
                        _ => {
                            into.push(kind);
                            write_integer(i64::from(*number), into);
                        }
                    }
                    last = *number;
                    if !matches!(value, Value::Bool(_)) {
                        value.write(into);
                    }
                }
                into.push(0);
            }
        }
    }

    fn kind(&self) -> u8 {
        match self {
            Value::Bool(true) => 1,
            Value::Bool(false) => 2,
            Value::Byte(_) => 3,
            Value::Integer(kind, _) | Value::List(kind, ..) => *kind,
            Value::Double(_) => 7,
            Value::Binary(_) => 8,
            Value::Struct(_) => 12,
        }
    }

    /// Returns a field of a struct, by its number.
    pub fn field(&self, number: i16) -> Option<&Value> {
        match self {
            Value::Struct(fields) => fields.iter().find(|(own, _)| *own == number).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns a mutable field of a struct, by its number.
    pub fn field_mut(&mut self, number: i16) -> Option<&mut Value> {
        match self {
            Value::Struct(fields) => fields.iter_mut().find(|(own, _)| *own == number).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns the number, if the value is an integer.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Value::Integer(_, number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the elements, if the value is a list.
    pub fn elements(&self) -> &[Value] {
        match self {
            Value::List(_, _, values) => values,
            _ => &[],
        }
    }

    /// Returns the mutable elements, if the value is a list.
    pub fn elements_mut(&mut self) -> &mut [Value] {
        match self {
            Value::List(_, _, values) => values,
            _ => &mut [],
        }
    }

    /// Returns the number of values in the tree, including itself.
    pub fn nodes(&self) -> usize {
        1 + match self {
            Value::List(_, _, values) => values.iter().map(Value::nodes).sum(),
            Value::Struct(fields) => fields.iter().map(|(_, value)| value.nodes()).sum(),
            _ => 0,
        }
    }

    /// Returns the value at an index, in tree order.
    pub fn node_mut(&mut self, index: usize) -> Option<&mut Value> {
        if index == 0 {
            return Some(self);
        }
        let mut left = index - 1;
        let children: Vec<&mut Value> = match self {
            Value::List(_, _, values) => values.iter_mut().collect(),
            Value::Struct(fields) => fields.iter_mut().map(|(_, value)| value).collect(),
            _ => Vec::new(),
        };
        for child in children {
            let nodes = child.nodes();
            if left < nodes {
                return child.node_mut(left);
            }
            left -= nodes;
        }
        None
    }
}

fn write_varint(mut number: u64, into: &mut Vec<u8>) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

fn write_integer(number: i64, into: &mut Vec<u8>) {
    write_varint((number << 1 ^ number >> 63) as u64, into);
}
