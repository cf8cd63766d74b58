/* Berkeley DB behind a few flat functions: its own interface is a structure of some hundred function pointers.
 *
 * Places are 8 bytes, records 200, keys 60 with a number of 4: see store.rs. Every function returns 0 or one of
 * Berkeley DB's errors. One thread uses it, so there is no locking. */

#include <db.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE = 8, RECORD = 200, ENTRY = PLACE + RECORD, KEY = 60, NUMBER = 4, OFFER = KEY + NUMBER };

/* Small pages: an insertion anywhere reads and writes a whole one. */
enum { PAGE = 4096 };

/* The log that is kept between two checkpoints, and its buffer in memory. */
enum { CHECKPOINT_KIB = 256 << 10, LOG_BUFFER = 4 << 20, LOG_FILE = 64 << 20 };

typedef struct {
    DB_ENV *env;
    DB *db;
} berkeley;

static DBT bytes_of(const void *bytes, uint32_t length) {
    DBT dbt;
    memset(&dbt, 0, sizeof dbt);
    dbt.data = (void *)bytes;
    dbt.size = length;
    dbt.ulen = length;
    dbt.flags = DB_DBT_USERMEM;
    return dbt;
}

static int open_env(berkeley *to, const char *directory, uint64_t cache) {
    int error = db_env_create(&to->env, 0);
    if (error) return error;
    error = to->env->set_cachesize(to->env, (uint32_t)(cache >> 30), (uint32_t)(cache & ((1u << 30) - 1)), 1);
    if (!error) error = to->env->set_lg_bsize(to->env, LOG_BUFFER);
    if (!error) error = to->env->set_lg_max(to->env, LOG_FILE);
    if (!error) error = to->env->log_set_config(to->env, DB_LOG_AUTO_REMOVE, 1);
    uint32_t flags = DB_CREATE | DB_INIT_LOG | DB_INIT_MPOOL | DB_INIT_TXN | DB_PRIVATE;
    return error ? error : to->env->open(to->env, directory, flags, 0);
}

static int open_db(berkeley *to) {
    int error = db_create(&to->db, to->env, 0);
    if (!error) error = to->db->set_pagesize(to->db, PAGE);
    return error ? error : to->db->open(to->db, NULL, "records", NULL, DB_BTREE, DB_CREATE | DB_AUTO_COMMIT, 0);
}

int berkeley_open(const char *directory, uint64_t cache, berkeley **opened) {
    berkeley *to = calloc(1, sizeof *to);
    if (!to) return DB_RUNRECOVERY;
    int error = open_env(to, directory, cache);
    if (!error) error = open_db(to);
    *opened = to;
    return error;
}

int berkeley_close(berkeley *of) {
    int error = of->db ? of->db->close(of->db, 0) : 0;
    int env_error = of->env ? of->env->close(of->env, 0) : 0;
    free(of);
    return error ? error : env_error;
}

/* Reads entries from `from` to before `end` into `into`, at most `count_max`. */
int berkeley_read(berkeley *of, const uint8_t *from, const uint8_t *end, size_t count_max, uint8_t *into,
                  size_t *count) {
    DBC *cursor;
    *count = 0;
    int error = of->db->cursor(of->db, NULL, &cursor, 0);
    if (error) return error;
    uint32_t how = DB_SET_RANGE;
    while (*count < count_max) {
        uint8_t *entry = into + *count * ENTRY;
        memcpy(entry, from, PLACE);
        DBT place = bytes_of(entry, PLACE), record = bytes_of(entry + PLACE, RECORD);
        error = cursor->get(cursor, &place, &record, how);
        if (error || memcmp(entry, end, PLACE) >= 0) break;
        how = DB_NEXT;
        ++*count;
    }
    int closed = cursor->close(cursor);
    return error && error != DB_NOTFOUND ? error : closed;
}

static int delete_range(berkeley *of, DB_TXN *txn, const uint8_t *from, const uint8_t *end) {
    DBC *cursor;
    int error = of->db->cursor(of->db, txn, &cursor, 0);
    if (error) return error;
    uint8_t at[PLACE];
    memcpy(at, from, PLACE);
    DBT place = bytes_of(at, PLACE), none = bytes_of(NULL, 0);
    /* The value is not wanted. */
    none.flags |= DB_DBT_PARTIAL;
    error = cursor->get(cursor, &place, &none, DB_SET_RANGE);
    while (!error && memcmp(at, end, PLACE) < 0) {
        error = cursor->del(cursor, 0);
        if (!error) error = cursor->get(cursor, &place, &none, DB_NEXT);
    }
    int closed = cursor->close(cursor);
    return error && error != DB_NOTFOUND ? error : closed;
}

static int put_all(berkeley *of, DB_TXN *txn, const uint8_t *entries, size_t count) {
    int error = 0;
    for (size_t i = 0; !error && i < count; ++i) {
        DBT place = bytes_of(entries + i * ENTRY, PLACE), record = bytes_of(entries + i * ENTRY + PLACE, RECORD);
        error = of->db->put(of->db, txn, &place, &record, 0);
    }
    return error;
}

/* Deletes from `from` to before `end`, adds `entries`, and commits, synced or not. */
int berkeley_commit(berkeley *of, const uint8_t *from, const uint8_t *end, const uint8_t *entries, size_t count,
                    int synced) {
    DB_TXN *txn;
    int error = of->env->txn_begin(of->env, NULL, &txn, 0);
    if (error) return error;
    error = delete_range(of, txn, from, end);
    if (!error) error = put_all(of, txn, entries, count);
    if (error) {
        txn->abort(txn);
        return error;
    }
    error = txn->commit(txn, synced ? DB_TXN_SYNC : DB_TXN_NOSYNC);
    return error ? error : of->env->txn_checkpoint(of->env, CHECKPOINT_KIB, 0, 0);
}

/* Adds the keys that are not there, synced, and says of each whether it was new. */
int berkeley_offer(berkeley *of, const uint8_t *offers, size_t count, uint8_t *new) {
    DB_TXN *txn;
    int error = of->env->txn_begin(of->env, NULL, &txn, 0);
    if (error) return error;
    for (size_t i = 0; !error && i < count; ++i) {
        DBT key = bytes_of(offers + i * OFFER, KEY), number = bytes_of(offers + i * OFFER + KEY, NUMBER);
        error = of->db->put(of->db, txn, &key, &number, DB_NOOVERWRITE);
        new[i] = error == 0;
        if (error == DB_KEYEXIST) error = 0;
    }
    if (error) {
        txn->abort(txn);
        return error;
    }
    error = txn->commit(txn, DB_TXN_SYNC);
    return error ? error : of->env->txn_checkpoint(of->env, CHECKPOINT_KIB, 0, 0);
}

int berkeley_checkpoint(berkeley *of) {
    return of->env->txn_checkpoint(of->env, 0, 0, DB_FORCE);
}

const char *berkeley_message(int error) {
    return db_strerror(error);
}
