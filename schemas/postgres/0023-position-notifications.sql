-- Whoever waits for a commit of a stage hears of it as it happens: the payload names the stage.
CREATE FUNCTION notify_stage_positions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('stage_positions', CASE TG_OP WHEN 'DELETE' THEN OLD.stage ELSE NEW.stage END);
  RETURN NULL;
END $$;
CREATE TRIGGER notify AFTER INSERT OR UPDATE OR DELETE ON stage_positions
  FOR EACH ROW EXECUTE FUNCTION notify_stage_positions();
