-- +goose Up
-- The names of clients as the operator's search finds them: by the beginning of each word, without accents (ADR 0036).

-- A text without the differences that people overlook: case, accents and other marks, forms of a letter, and apostrophes, which all
-- become U+02BC. Marks go after a decomposition (NFKD), so that composed and decomposed letters are alike; the letters of translate have
-- none. Invisible characters go, too. Rows of client_names hold what this function gave, so a change of it must make them anew.
-- +goose StatementBegin
CREATE FUNCTION folded(written text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN octet_length(written) = length(written) THEN translate(lower(written COLLATE "C") COLLATE "C", '''`', U&'\02BC\02BC')
    ELSE replace(replace(replace(replace(translate(
        regexp_replace(
            lower(normalize(translate(written, U&'''`\00B4\02B9\02BB\02BD\2018\2019\201B\2032\FF07', repeat(U&'\02BC', 11)), NFKD) COLLATE "und-x-icu") COLLATE "C",
            '[\u0300-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20FF\uFE00-\uFE0F\uFE20-\uFE2F\u00AD\u200B-\u200F\u2060\uFEFF]', '', 'g'),
        U&'\00F8\0142\0111\00F0\0127\0167\0131\03C2', U&'olddhti\03C3'),
        U&'\00DF', 'ss'), U&'\00E6', 'ae'), U&'\0153', 'oe'), U&'\00FE', 'th') END
$$;
-- +goose StatementEnd

-- The words of a name, folded; spaces and punctuation end a word. An apostrophe belongs to its word and goes, and what is behind the
-- apostrophe is a word, too: sean o'connor has sean, oconnor and connor. In plpgsql, which keeps its plans, as are the functions below.
-- +goose StatementBegin
CREATE FUNCTION words_of_name(name text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    token text;
    word  text;
    words text[] := '{}';
BEGIN
    FOREACH token IN ARRAY regexp_split_to_array(folded(name) COLLATE "und-x-icu", '[[:space:][:punct:][:cntrl:]]+') LOOP
        FOREACH word IN ARRAY replace(token, U&'\02BC', '') || (string_to_array(token, U&'\02BC'))[2:] LOOP
            IF word <> '' AND word <> ALL (words) THEN
                words := words || word;
            END IF;
        END LOOP;
    END LOOP;
    RETURN words;
END $$;
-- +goose StatementEnd

-- The words that a search asks for, each of which is the beginning of a word of the name; without those that another one implies.
-- +goose StatementBegin
CREATE FUNCTION searched_words(asked text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    WITH words AS MATERIALIZED (SELECT word FROM unnest(words_of_name(replace(folded(asked), U&'\02BC', ''))) AS word)
    SELECT coalesce(array_agg(word ORDER BY length(word) DESC, word COLLATE "C"), '{}') FROM words w
    WHERE NOT EXISTS (SELECT FROM words longer WHERE longer.word <> w.word AND starts_with(longer.word, w.word))
$$;
-- +goose StatementEnd

-- A row for each word of a client's name. It holds all words of the name, that word first: so a range of the key has the clients with a
-- word of some beginning, and each row tells whether the client has the other words that a search asks for. The bounds keep rows below the
-- limit of an index; only names that are made for it reach them.
CREATE TABLE client_names (
    account_id uuid NOT NULL,
    words      text COLLATE "C" NOT NULL,
    client_id  uuid NOT NULL,
    PRIMARY KEY (account_id, words, client_id)
);
CREATE INDEX client_names_of_client ON client_names (client_id);

-- +goose StatementBegin
CREATE FUNCTION rotated_names(first_name text, last_name text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    words     text[] := words_of_name(first_name || ' ' || last_name);
    row_words text;
    rotated   text[] := '{}';
BEGIN
    FOR n IN 1..least(cardinality(words), 32) LOOP
        row_words := left(array_to_string(words[n:] || words[:n - 1], ' '), 400);
        IF row_words <> ALL (rotated) THEN
            rotated := rotated || row_words;
        END IF;
    END LOOP;
    RETURN rotated;
END $$;
-- +goose StatementEnd

-- Triggers, so that a program from before this migration keeps the table too. An erased client has no name, and so no row.
-- +goose StatementBegin
CREATE FUNCTION note_client_names() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO client_names (account_id, words, client_id)
    SELECT NEW.account_id, words, NEW.id FROM unnest(rotated_names(NEW.first_name, NEW.last_name)) AS words;
    RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION renew_client_names() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    DELETE FROM client_names WHERE client_id = NEW.id;
    INSERT INTO client_names (account_id, words, client_id)
    SELECT NEW.account_id, words, NEW.id FROM unnest(rotated_names(NEW.first_name, NEW.last_name)) AS words;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER clients_are_named AFTER INSERT ON clients FOR EACH ROW EXECUTE FUNCTION note_client_names();
CREATE TRIGGER clients_are_renamed AFTER UPDATE OF account_id, first_name, last_name ON clients FOR EACH ROW
    WHEN ((OLD.account_id, OLD.first_name, OLD.last_name) IS DISTINCT FROM (NEW.account_id, NEW.first_name, NEW.last_name))
    EXECUTE FUNCTION renew_client_names();

-- +goose Down
SELECT 'the table stays';
