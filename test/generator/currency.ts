export interface Currency {
  id: string;
  name: string;
}
