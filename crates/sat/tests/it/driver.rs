//! Random use of a store: every step is a function of the seed.

use crate::model::Entry;
use crate::player::{Played, Player};
use base::Chance;
use sat::RECORD_BYTES_MAX;

/// What a driver does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    /// How many keys there are to be offered.
    pub(crate) keys: u64,
    /// The longest usual value.
    pub(crate) value_bytes_max: u64,
    /// In a thousand records handed out, how many are not written back soon.
    pub(crate) kept_of_thousand: u64,
    /// Half of all due minutes are rounded up to a multiple of this.
    pub(crate) gathered_minutes: u32,
    /// In a thousand values, how many are as long as can be.
    pub(crate) long_of_thousand: u64,
}

impl Habits {
    pub(crate) const DEFAULT: Self = Self {
        keys: 3_000,
        value_bytes_max: 600,
        kept_of_thousand: 100,
        gathered_minutes: 1,
        long_of_thousand: 1,
    };
}

impl Default for Habits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Uses a store at random.
pub(crate) struct Driver {
    pub(crate) chance: Chance,
    habits: Habits,
    /// The minute that the store was told.
    now: u32,
    written: u64,
}

impl Driver {
    pub(crate) fn new(seed: u64, habits: Habits) -> Self {
        Self { chance: Chance::new(seed), habits, now: 0, written: 0 }
    }
    /// Does one thing. How many calls it took.
    pub(crate) fn step(&mut self, player: &mut Player) -> Played<u64> {
        match self.chance.below(100) {
            0..30 => self.visit(player),
            30..42 => self.offer_some(player),
            42..44 => player.settle().map(|()| 1),
            44..60 => self.change_out_of_turn(player),
            60..64 => self.delete_some(player),
            64..70 => self.write_back_late(player),
            70..76 => self.change_table(player),
            76..82 => player.commit().map(|()| 1),
            82..88 => player.begin_commit().map(|()| 1),
            88..90 => player.ask_durable().map(|()| 1),
            90..99 => self.look(player),
            _ => self.look_at_all(player),
        }
    }
    /// Lets time pass and takes what is due, all of it or a part.
    fn visit(&mut self, player: &mut Player) -> Played<u64> {
        let minutes = match self.chance.below(100) {
            0..20 => 0,
            20..85 => 1 + self.chance.below(4),
            85..99 => self.chance.below(60),
            _ => self.chance.below(3_000),
        };
        self.now = self.now.max(player.store().minute().0) + narrow(minutes);
        player.advance(self.now);
        let batches = if self.chance.below(5) == 0 { 1 + self.chance.below(3) } else { u64::MAX };
        let mut calls = 0;
        for _ in 0..batches {
            let numbers = player.next_due(self.now)?;
            if numbers.is_empty() {
                break;
            }
            calls += 1 + numbers.len() as u64;
            for number in numbers {
                self.judge(player, number)?;
            }
            if self.chance.below(3) == 0 {
                player.commit()?;
            }
        }
        Ok(calls + 1)
    }
    /// Makes many records long and far away together, and then most of them short again: whole data files die at
    /// once, and others for the most part.
    pub(crate) fn burst(&mut self, player: &mut Player, ahead: u32) -> Played {
        let numbers: Vec<u32> = player.model.records.keys().copied().take(600).collect();
        for number in &numbers {
            let due = player.store().minute().0 + ahead + narrow(self.chance.below(u64::from(ahead)));
            let value = vec![self.value().first().copied().unwrap_or(7); 10_000];
            player.update(*number, due, &value)?;
        }
        for number in numbers {
            if self.chance.below(5) != 0 {
                self.write(player, number)?;
            }
        }
        player.checkpoint()
    }
    fn judge(&mut self, player: &mut Player, number: u32) -> Played {
        // It may have been changed since, by way of another.
        if self.chance.below(1_000) < self.habits.kept_of_thousand {
            return Ok(());
        }
        if self.chance.below(40) == 0 { player.delete(number) } else { self.write(player, number) }
    }
    fn write(&mut self, player: &mut Player, number: u32) -> Played {
        let due = self.due(player);
        let value = self.value();
        player.update(number, due, &value)
    }
    fn due(&mut self, player: &mut Player) -> u32 {
        let minute = player.store().minute().0;
        let ahead = match self.chance.below(100) {
            0..2 => return narrow(self.chance.below(u64::from(minute) + 1)),
            2..30 => 1 + self.chance.below(10),
            30..60 => 1 + self.chance.below(100),
            60..90 => 1 + self.chance.below(1_000),
            90..98 => 1 + self.chance.below(20_000),
            _ => 1 + self.chance.below(576_000),
        };
        let due = minute + narrow(ahead);
        if self.chance.below(2) == 0 { due.next_multiple_of(self.habits.gathered_minutes) } else { due }
    }
    /// A value that is like no other.
    fn value(&mut self) -> Vec<u8> {
        self.written += 1;
        let length = if self.chance.below(1_000) < self.habits.long_of_thousand {
            RECORD_BYTES_MAX - 40
        } else if self.chance.below(8) == 0 {
            0
        } else {
            self.chance.index(usize::try_from(self.habits.value_bytes_max).expect("small"))
        };
        let number = self.written.to_le_bytes();
        number.iter().copied().cycle().take(length).collect()
    }
    /// A key of random length; the first is empty.
    fn key(&mut self) -> Vec<u8> {
        let number = self.chance.below(self.habits.keys);
        let mut key = if number == 0 { Vec::new() } else { format!("key {number} ").into_bytes() };
        key.resize(key.len() + usize::try_from(number * 7 % 30).expect("small"), b'.');
        if number == 0 { Vec::new() } else { key }
    }
    fn offer_some(&mut self, player: &mut Player) -> Played<u64> {
        let count = 1 + self.chance.below(30);
        for _ in 0..count {
            let (key, due, value) = (self.key(), self.due(player), self.value());
            player.offer(Entry { key, due, value })?;
        }
        Ok(count)
    }
    /// Some record.
    fn some(&mut self, player: &Player) -> Option<u32> {
        let from = narrow(self.chance.below(self.habits.keys));
        let records = &player.model.records;
        records.range(from..).next().or_else(|| records.first_key_value()).map(|(number, _)| *number)
    }
    fn change_out_of_turn(&mut self, player: &mut Player) -> Played<u64> {
        let count = 1 + self.chance.below(8);
        for _ in 0..count {
            if let Some(number) = self.some(player) {
                self.write(player, number)?;
            }
        }
        Ok(count)
    }
    fn delete_some(&mut self, player: &mut Player) -> Played<u64> {
        let count = 1 + self.chance.below(4);
        for _ in 0..count {
            if let Some(number) = self.some(player) {
                player.delete(number)?;
            }
        }
        Ok(count)
    }
    fn write_back_late(&mut self, player: &mut Player) -> Played<u64> {
        let kept: Vec<u32> = player.handed().iter().copied().collect();
        let count = self.chance.index(kept.len() + 1);
        for number in kept.iter().take(count) {
            self.write(player, *number)?;
        }
        Ok(count as u64)
    }
    fn change_table(&mut self, player: &mut Player) -> Played<u64> {
        let name = [b'a' + u8::try_from(self.chance.below(8)).expect("small"); 3];
        if self.chance.below(4) == 0 {
            player.unset(&name)?;
        } else {
            let value = self.value();
            player.set(&name, &value)?;
        }
        Ok(1)
    }
    fn look(&mut self, player: &mut Player) -> Played<u64> {
        let key = self.key();
        player.look(&key).map(|()| 2)
    }
    fn look_at_all(&mut self, player: &mut Player) -> Played<u64> {
        match self.chance.below(4) {
            0 => player.check_all()?,
            1 => player.checkpoint()?,
            _ => {}
        }
        Ok(1)
    }
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).expect("minutes fit 32 bits")
}
